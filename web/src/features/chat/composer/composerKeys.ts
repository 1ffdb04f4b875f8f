/**
 * Maps keys in the composer to actions. IME composition takes precedence, then an open suggestion list, then the
 * composer.
 */
import { createAtom } from "../../../app/atom";
import { readStorage, writeStorage } from "../../../app/storage";
import { isComposing } from "../../../app/shortcuts";

export interface ComposerKeyEvent {
  readonly key: string;
  readonly isComposing: boolean;
  readonly keyCode: number;
  readonly repeat: boolean;
  readonly defaultPrevented: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
}

export interface ComposerState {
  /** The number of suggested files; null while the list is closed. */
  readonly suggestionCount: number | null;
  readonly isEmpty: boolean;
  readonly isRunning: boolean;
  /** Whether the keyboard is on the screen, without Shift+Enter. */
  readonly isTouch: boolean;
  readonly sendKeys: SendKeys;
}

/** The keys that send a message; the other combination inserts a line break. */
export type SendKeys = "enter" | "mod-enter";

const SEND_KEYS_KEY = "pilothouse-send-keys";

export const sendKeysAtom = createAtom<SendKeys>(readStorage(SEND_KEYS_KEY) === "mod-enter" ? "mod-enter" : "enter");

export function writeSendKeys(keys: SendKeys): void {
  writeStorage(SEND_KEYS_KEY, keys);
  sendKeysAtom.set(keys);
}

/**
 * Whether the primary input is touch. An on-screen keyboard has no Shift+Enter, so Enter inserts a line break there.
 */
export function isTouch(): boolean {
  return matchMedia("(pointer: coarse)").matches;
}

type ComposerAction =
  "send" | "stop" | "edit_last" | "nothing" | "list_up" | "list_down" | "list_choose" | "list_close";

const LIST_KEYS: Readonly<Record<string, ComposerAction>> = {
  ArrowUp: "list_up",
  ArrowDown: "list_down",
  Enter: "list_choose",
  Tab: "list_choose",
};

/** Null if the key keeps its default effect; "nothing" suppresses the default effect. */
export function composerActionForKey(event: ComposerKeyEvent, state: ComposerState): ComposerAction | null {
  if (isComposing(event) || event.defaultPrevented) return null;
  if (state.sendKeys === "mod-enter" && event.key === "Enter" && state.suggestionCount === null)
    return actionForModEnter(event, state);
  if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return null;
  if (state.suggestionCount !== null && event.key === "Escape") return "list_close";
  const listAction = (state.suggestionCount ?? 0) > 0 ? LIST_KEYS[event.key] : undefined;
  if (listAction !== undefined) return listAction;
  if (event.key === "Enter") return state.isTouch ? null : event.repeat ? "nothing" : "send";
  if (event.repeat) return null;
  if (event.key === "Escape") return state.isRunning ? "stop" : null;
  return event.key === "ArrowUp" && state.isEmpty ? "edit_last" : null;
}

/** Mod+Enter in an empty composer is not handled here: it approves a pending call. */
function actionForModEnter(event: ComposerKeyEvent, state: ComposerState): ComposerAction | null {
  const isMod = event.ctrlKey !== event.metaKey && !event.shiftKey && !event.altKey;
  if (!isMod || state.isEmpty) return null;
  return event.repeat ? "nothing" : "send";
}
