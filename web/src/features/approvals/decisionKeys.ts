/** Maps keys to decisions, and ignores keys that must not decide. No other module contains such rules. */
import { GRACE_MS } from "../../app/focusPolicy";
import { readStorage, writeStorage } from "../../app/storage";

/** `focus` moves the focus to the card, `leaveCard` moves it back to the composer; neither decides anything. */
export type Decision = "approve" | "always" | "reject" | "reason" | "approveAll" | "rejectAll" | "focus" | "leaveCard";

/**
 * The element on which the key was pressed. `card`: the card itself. `body`: no element has the focus.
 * `control`: a button or checkbox of the card, which handles Enter itself.
 * `composer`: the empty composer. `elsewhere`: any other field, menu or dialog.
 */
export type FocusPlace = "card" | "control" | "body" | "composer" | "elsewhere";

export interface DecisionKeyEvent {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly repeat: boolean;
  readonly isComposing: boolean;
  readonly keyCode: number;
  readonly defaultPrevented: boolean;
}

export interface KeyContext {
  readonly place: FocusPlace;
  /** Whether the call that the key refers to is dangerous. */
  readonly isDangerous: boolean;
  readonly hasRuleOffers: boolean;
  readonly hasSingleKeys: boolean;
  /** Milliseconds since the pending calls changed, and since the user last typed. */
  readonly msSinceChange: number;
  readonly msSinceTyping: number;
  readonly isMac: boolean;
}

/** Null if the key decides nothing and keeps its default effect. */
export function decisionForKey(event: DecisionKeyEvent, context: KeyContext): Decision | null {
  if (event.repeat || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return null;
  if (context.place === "elsewhere" || event.altKey) return null;
  if (event.key === "Escape") return isOnCard(context.place) ? "leaveCard" : null;
  if (context.msSinceChange < GRACE_MS || context.msSinceTyping < GRACE_MS) return null;
  const isMod = context.isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (isMod && event.key === "Backspace") {
    if (!event.shiftKey) return "reject";
    return context.place === "composer" ? null : "rejectAll";
  }
  if (context.place !== "composer") return decisionOnCard(event, context);
  if (!isMod || event.shiftKey || event.key !== "Enter") return null;
  return context.isDangerous ? "focus" : "approve";
}

const isOnCard = (place: FocusPlace) => place === "card" || place === "control";

function decisionOnCard(event: DecisionKeyEvent, context: KeyContext): Decision | null {
  if (event.ctrlKey || event.metaKey) return null;
  if (event.key === "Enter") {
    if (context.place === "control") return null;
    if (event.shiftKey) return "approveAll";
    return context.isDangerous ? null : "approve";
  }
  // Outside of any control, a letter may be the start of a message: it goes to the composer.
  return event.shiftKey || !context.hasSingleKeys || context.place === "body"
    ? null
    : decisionForSingleKey(event, context);
}

function decisionForSingleKey(event: DecisionKeyEvent, context: KeyContext): Decision | null {
  switch (event.key) {
    case "1":
      return context.isDangerous ? null : "approve";
    case "2":
      return context.hasRuleOffers ? "always" : null;
    case "3":
      return "reject";
    case "4":
    case "r":
    case "R":
      return "reason";
    default:
      return null;
  }
}

const SINGLE_KEYS_KEY = "pilothouse-single-keys";

/** Whether the keys 1, 2, 3, 4 and R decide. With speech input, users may want to turn them off. */
export function readSingleKeys(): boolean {
  return readStorage(SINGLE_KEYS_KEY) !== "off";
}

export function writeSingleKeys(isEnabled: boolean): void {
  writeStorage(SINGLE_KEYS_KEY, isEnabled ? "on" : "off");
}
