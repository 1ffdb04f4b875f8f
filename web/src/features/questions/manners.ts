/** Whether something new may take the focus: never from somebody who types, chooses or has just pressed a key. */
const QUIET = 1_000;
let pressedAt = -Infinity;

if (typeof window !== "undefined") window.addEventListener("keydown", () => (pressedAt = performance.now()), true);

export function isFree(): boolean {
  if (performance.now() - pressedAt < QUIET || document.querySelector("dialog[open]") !== null) return false;
  const at = document.activeElement;
  if (at === null || at === document.body) return true;
  if (at.closest("[role='menu'], [contenteditable], select, input") !== null) return false;
  return !(at instanceof HTMLTextAreaElement) || at.value === "";
}
