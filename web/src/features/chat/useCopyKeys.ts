/** Keys that copy the last answer, and the last block of code in it. */
import { lex } from "./markdown/lexer";
import { usePage } from "../../app/page";
import { useShortcut } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { visible } from "../../store/selectors";
import { copyText } from "../../ui/clipboard";
import { notify } from "../../ui/Notices";
import { WORDS } from "./words";

export function useCopyKeys(id: string): void {
  const t = useWords(WORDS);
  const { store } = usePage();
  const copyLast = (pick: (text: string) => string | undefined) => {
    const answers = visible(store.getSnapshot(), id).messages.filter(
      (each) => each.type === "text" && each.role === "assistant",
    );
    const found = answers.flatMap((each) => (each.type === "text" ? (pick(each.content) ?? []) : [])).at(-1);
    if (found === undefined) return notify(t("nothingToCopy"));
    void copyText(found).then((isDone) => notify(t(isDone ? "copied" : "notCopied"), !isDone));
  };
  useShortcut("answer.copy", () => copyLast((text) => text));
  useShortcut("code.copy", () => copyLast(lastCode));
}

/** The last block of code on the outermost level. */
export function lastCode(text: string): string | undefined {
  return lex(text)
    .tokens.flatMap((token) => (token.type === "code" ? [String(token.text)] : []))
    .at(-1);
}
