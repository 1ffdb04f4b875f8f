/** The text of a user message. A long text is collapsed to its first lines. */
import { useMemo, useState } from "react";
import { useTexts } from "../../../i18n/texts";
import { Button } from "../../../ui/Button";
import { visibleText } from "../../../ui/safeText";

const MAX_PREVIEW_LINES = 20;
const CHARACTERS_PER_LINE = 80;
/** Ids of expanded messages, kept while their rows are unmounted. */
const expandedIds = new Set<string>();

/** The collapsed text and the number of lines. A text that is only slightly longer is not collapsed. */
export function previewOf(text: string): { readonly preview: string; readonly lines: number; readonly isCut: boolean } {
  const lines = text.split("\n");
  let budget = MAX_PREVIEW_LINES * CHARACTERS_PER_LINE;
  const preview: string[] = [];
  for (const line of lines) {
    if (budget <= 0) break;
    preview.push(line.slice(0, budget));
    budget -= Math.max(CHARACTERS_PER_LINE, Math.ceil(line.length / CHARACTERS_PER_LINE) * CHARACTERS_PER_LINE);
  }
  const beginning = preview.join("\n");
  const isCut =
    text.length > beginning.length &&
    (lines.length > MAX_PREVIEW_LINES + 4 || text.length > beginning.length + 4 * CHARACTERS_PER_LINE);
  return isCut ? { preview: beginning, lines: lines.length, isCut } : { preview: text, lines: lines.length, isCut };
}

export function UserMessageText({ id, text }: { id: string; text: string }) {
  const t = useTexts("userMessage");
  const [isOpen, setOpen] = useState(expandedIds.has(id));
  const { preview, lines, isCut } = useMemo(() => previewOf(text), [text]);
  const visible = useMemo(() => visibleText(isOpen ? text : preview), [isOpen, text, preview]);
  const toggle = () => {
    if (isOpen) expandedIds.delete(id);
    else expandedIds.add(id);
    setOpen(!isOpen);
  };
  return (
    <>
      <p className={isCut && !isOpen ? "user-message-text is-cut" : "user-message-text"}>{visible}</p>
      {isCut && (
        <Button kind={["quiet", "small"]} aria-expanded={isOpen} onClick={toggle}>
          {isOpen
            ? t("showLess")
            : lines > MAX_PREVIEW_LINES
              ? t("showAll", { n: lines.toLocaleString() })
              : t("showAllText")}
        </Button>
      )}
    </>
  );
}
