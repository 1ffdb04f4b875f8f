/** Shortcuts that copy the last answer or its last code block. */
import { lex } from "./markdown/lexer";
import { useAppServices } from "../../app/appServices";
import { useShortcut } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { visibleMessages } from "../../store/selectors";
import { copyText } from "../../ui/clipboard";
import { notify } from "../../ui/Notices";

export function useCopyShortcuts(id: string): void {
  const t = useTexts("chat");
  const { store } = useAppServices();
  const copyLast = (pick: (text: string) => string | undefined) => {
    const answers = visibleMessages(store.getSnapshot(), id).messages.filter(
      (each) => each.type === "text" && each.role === "assistant",
    );
    const copied = answers.flatMap((each) => (each.type === "text" ? (pick(each.content) ?? []) : [])).at(-1);
    if (copied === undefined) return notify(t("nothingToCopy"));
    void copyText(copied).then((isDone) => notify(t(isDone ? "copied" : "notCopied"), !isDone));
  };
  useShortcut("answer.copy", () => copyLast((text) => text));
  useShortcut("code.copy", () => copyLast(lastCodeBlock));
}

/** The last top-level code block of a text. */
export function lastCodeBlock(text: string): string | undefined {
  return lex(text)
    .tokens.flatMap((token) => (token.type === "code" ? [String(token.text)] : []))
    .at(-1);
}
