/** Copies the whole of something, however little of it is shown. */
import { useWords } from "../../i18n/words";
import { announce } from "../../ui/Announcer";
import { IconButton } from "../../ui/Button";
import { useCopy } from "../../ui/useCopy";
import { WORDS } from "./words";

export function CopyAll({ text }: { text: string }) {
  const t = useWords(WORDS);
  const { isCopied, copy } = useCopy();
  return (
    <IconButton
      kind={["quiet", "small"]}
      icon={isCopied ? "check" : "copy"}
      label={isCopied ? t("copied") : t("copyAll")}
      onClick={() => void copy(text).then(() => announce(t("copied")))}
    />
  );
}
