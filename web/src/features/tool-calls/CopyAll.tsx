/** A button that copies the complete text, also if only a part is shown. */
import { useTexts } from "../../i18n/texts";
import { announce } from "../../ui/Announcer";
import { IconButton } from "../../ui/Button";
import { useCopyFeedback } from "../../ui/useCopyFeedback";

export function CopyAll({ text }: { text: string }) {
  const t = useTexts("approvals");
  const { isCopied, copy } = useCopyFeedback();
  return (
    <IconButton
      kind={["quiet", "small"]}
      icon={isCopied ? "check" : "copy"}
      label={isCopied ? t("copied") : t("copyAll")}
      onClick={() => void copy(text).then(() => announce(t("copied")))}
    />
  );
}
