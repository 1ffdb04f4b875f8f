/** A person's words. A long text is cut after some lines until somebody wants all of it. */
import { useMemo, useState } from "react";
import { useWords } from "../../../i18n/words";
import { Button } from "../../../ui/Button";
import { visibleText } from "../../../ui/names";
import { WORDS } from "./words";

const LINES = 20;
const LETTERS_A_LINE = 80;
/** Those that somebody has opened, also when their line was not drawn for a while. */
const opened = new Set<string>();

/** What is shown of it at first, and how many lines it has. Nothing is cut that is hardly longer. */
export function beginningOf(text: string): { readonly shown: string; readonly lines: number; readonly isCut: boolean } {
  const lines = text.split("\n");
  let left = LINES * LETTERS_A_LINE;
  const shown: string[] = [];
  for (const line of lines) {
    if (left <= 0) break;
    shown.push(line.slice(0, left));
    left -= Math.max(LETTERS_A_LINE, Math.ceil(line.length / LETTERS_A_LINE) * LETTERS_A_LINE);
  }
  const beginning = shown.join("\n");
  const isCut =
    text.length > beginning.length && (lines.length > LINES + 4 || text.length > beginning.length + 4 * LETTERS_A_LINE);
  return isCut ? { shown: beginning, lines: lines.length, isCut } : { shown: text, lines: lines.length, isCut };
}

export function SaidText({ id, text }: { id: string; text: string }) {
  const t = useWords(WORDS);
  const [isOpen, setOpen] = useState(opened.has(id));
  const { shown, lines, isCut } = useMemo(() => beginningOf(text), [text]);
  const visible = useMemo(() => visibleText(isOpen ? text : shown), [isOpen, text, shown]);
  const toggle = () => {
    if (isOpen) opened.delete(id);
    else opened.add(id);
    setOpen(!isOpen);
  };
  return (
    <>
      <p className={isCut && !isOpen ? "said-text is-cut" : "said-text"}>{visible}</p>
      {isCut && (
        <Button kind={["quiet", "small"]} aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? t("showLess") : lines > LINES ? t("showAll", { n: lines.toLocaleString() }) : t("showAllText")}
        </Button>
      )}
    </>
  );
}
