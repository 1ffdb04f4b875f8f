/**
 * Focus policy: only the user moves the focus. Cards, forms and dialogs that appear by themselves are announced with the
 * key that leads to them, so that keys typed for one control never reach another.
 */
import { isComposing } from "./shortcuts";

/** Milliseconds for which a key is still meant for what was there before: a card that has appeared, a box that was left. */
export const GRACE_MS = 500;
const QUIET_MS = 1_000;
let pressedAt = -Infinity;

if (typeof window !== "undefined") window.addEventListener("keydown", () => (pressedAt = performance.now()), true);

/** Whether a dialog may open by itself: nothing has the focus, and no key was pressed lately. */
export function isFocusFree(): boolean {
  const isQuiet = performance.now() - pressedAt >= QUIET_MS;
  return isQuiet && document.querySelector("dialog[open]") === null && isFocusLost();
}

/** Nothing has the focus, for instance because what had it was removed. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** What can have the focus and takes no text. */
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

/** Whether a key writes a letter. A space scrolls where nothing takes text. */
export function isLetter(event: TypedKey): boolean {
  if (event.defaultPrevented || isComposing(event) || event.key === " ") return false;
  return [...event.key].length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
}

/** Whether a letter was typed where nothing takes it: it is meant for the box. */
export function isTypedNowhere(event: KeyboardEvent): boolean {
  const isTextless = event.target instanceof Element && event.target.matches(WITHOUT_TEXT_INPUT);
  return isTextless && isLetter(event) && document.querySelector("dialog[open]") === null;
}
