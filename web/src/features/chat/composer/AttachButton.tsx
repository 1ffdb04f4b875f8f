/** The button that opens the file picker. */
import { useRef } from "react";
import { useTexts } from "../../../i18n/texts";
import { IconButton } from "../../../ui/Button";

export function AttachButton({ onFiles }: { onFiles(files: readonly File[]): void }) {
  const t = useTexts("composer");
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon="attach" label={t("attach")} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = ""; // lets the user select the same file again
        }}
      />
    </>
  );
}
