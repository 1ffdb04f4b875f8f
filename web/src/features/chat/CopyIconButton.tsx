/** Copies a text and confirms that for a moment. */
import { useTexts } from "../../i18n/texts";
import { announce } from "../../ui/Announcer";
import { IconButton } from "../../ui/Button";
import { useCopyFeedback } from "../../ui/useCopyFeedback";

export function CopyIconButton({ text, label }: { text: string; label?: string }) {
  const t = useTexts("chat");
  const { isCopied, copy } = useCopyFeedback();
  return (
    <IconButton
      kind={["quiet", "small"]}
      icon={isCopied ? "check" : "copy"}
      label={isCopied ? t("copied") : (label ?? t("copy"))}
      onClick={() => void copy(text).then((isDone) => isDone && announce(t("copied")))}
    />
  );
}
