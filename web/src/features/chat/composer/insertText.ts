/** Inserts text as if typed, so that the user can undo it. */
export function insertText(textarea: HTMLTextAreaElement, start: number, end: number, text: string): void {
  textarea.focus();
  textarea.setSelectionRange(start, end);
  if (document.execCommand("insertText", false, text)) return;
  textarea.setRangeText(text, start, end, "end");
  textarea.dispatchEvent(new InputEvent("input", { bubbles: true }));
}
