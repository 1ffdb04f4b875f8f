/** Classifies the element on which a key was pressed. */
import type { FocusPlace } from "./decisionKeys";

const FIELDS = "input:not([type='checkbox']), textarea, select, [contenteditable]";
const CONTROLS = "button, a, summary, input[type='checkbox']";

export function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(FIELDS) !== null;
}

export function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(CONTROLS) !== null;
}

export function composerTextarea(): HTMLTextAreaElement | null {
  return document.querySelector<HTMLTextAreaElement>(".composer textarea");
}

export function focusPlaceOf(target: EventTarget | null, dock: HTMLElement | null): FocusPlace {
  if (document.querySelector("dialog[open]") !== null || dock?.closest("[inert]") != null) return "elsewhere";
  if (!(target instanceof Element) || target === document.body || target === document.documentElement) return "body";
  if (target.closest("[role='menu'], [data-panel]") !== null) return "elsewhere";
  if (dock?.contains(target) === true) {
    if (isControl(target)) return "control";
    return target.closest(FIELDS) === null ? "card" : "elsewhere";
  }
  return target === composerTextarea() && isEmpty(target) ? "composer" : "elsewhere";
}

/** Whether a key types, deletes or sends. With Ctrl or Cmd, only keys that would decide if the composer were empty. */
export function isTyping({ target, ctrlKey, metaKey, key }: KeyboardEvent): boolean {
  if (/^(Control|Meta|Shift|Alt)$/.test(key) || !(target instanceof Element) || target.closest(FIELDS) === null)
    return false;
  return !(ctrlKey || metaKey) || (/^(Enter|Backspace|Delete)$/.test(key) && !isEmpty(target));
}

function isEmpty(target: Element): boolean {
  return target instanceof HTMLTextAreaElement && target.value.trim() === "";
}
