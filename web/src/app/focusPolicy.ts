/**
 * Focus policy: only the user moves the focus. Cards, forms and dialogs that appear by themselves are announced with the
 * key that leads to them, so that keys typed for one control never reach another.
 */
import { isComposing } from "./shortcuts";

/**
 * Grace period after a change of the screen or the focus: a key pressed in this time is still meant for the previous
 * control.
 */
export const GRACE_MS = 500;
const TYPING_PAUSE_MS = 1_000;
let pressedAt = -Infinity;

if (typeof window !== "undefined") window.addEventListener("keydown", () => (pressedAt = performance.now()), true);

/** Whether a dialog may open unrequested: no control has the focus, and no key was pressed recently. */
export function isFocusFree(): boolean {
  const isQuiet = performance.now() - pressedAt >= TYPING_PAUSE_MS;
  return isQuiet && document.querySelector("dialog[open]") === null && isFocusLost();
}

/** Whether no element has the focus, for example because the focused element was removed. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Elements that can have the focus but accept no text. */
const WITHOUT_TEXT_INPUT = "html, body, .transcript, [data-call], form.questions";

interface TypedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly defaultPrevented: boolean;
  readonly isComposing: boolean;
  readonly keyCode: number;
}

/** Whether a key types a character. The space bar is excluded: it scrolls outside of text fields. */
export function isLetter(event: TypedKey): boolean {
  if (event.defaultPrevented || isComposing(event) || event.key === " ") return false;
  return [...event.key].length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
}

/** Whether a character was typed outside of any text field. Such characters go to the composer. */
export function isTypedOutsideFields(event: KeyboardEvent): boolean {
  const takesNoText = event.target instanceof Element && event.target.matches(WITHOUT_TEXT_INPUT);
  return takesNoText && isLetter(event) && document.querySelector("dialog[open]") === null;
}
