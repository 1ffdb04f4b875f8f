/** Inserts text as if typed, so that the user can undo it. */
export function insertText(box: HTMLTextAreaElement, start: number, end: number, text: string): void {
  box.focus();
  box.setSelectionRange(start, end);
  if (document.execCommand("insertText", false, text)) return;
  box.setRangeText(text, start, end, "end");
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
}
