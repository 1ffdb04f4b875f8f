/** Which decision a key means, and when it means none. Nobody approves by accident: this is the one place that says so. */
import { GRACE } from "../../app/focusPolicy";
import { keep, kept } from "../../app/looks";

/** `look` goes to the card, `leave` from it to the box: neither decides anything. */
export type Decision = "approve" | "always" | "reject" | "reason" | "approveAll" | "rejectAll" | "look" | "leave";

/**
 * Where the key was pressed. `control`: on a button or a box to tick of the card, which has Enter for itself. `composer`:
 * in the box for messages while that is empty. `elsewhere`: in any other field, menu or dialog.
 */
export type Place = "card" | "control" | "body" | "composer" | "elsewhere";

export interface Pressed {
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

export interface Circumstances {
  readonly place: Place;
  /** The call that the keys are for. */
  readonly isDangerous: boolean;
  readonly hasLadder: boolean;
  readonly hasSingleKeys: boolean;
  /** Milliseconds since what waits has changed, and since somebody typed. */
  readonly sinceShown: number;
  readonly sinceTyped: number;
  readonly isMac: boolean;
}

/** Null: the key is not ours, and does whatever else it does. */
export function decisionOf(event: Pressed, at: Circumstances): Decision | null {
  if (event.repeat || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return null;
  if (at.place === "elsewhere" || event.altKey) return null;
  if (event.key === "Escape") return isOnCard(at.place) ? "leave" : null;
  if (at.sinceShown < GRACE || at.sinceTyped < GRACE) return null;
  const isMod = at.isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (isMod && event.key === "Backspace") {
    if (!event.shiftKey) return "reject";
    return at.place === "composer" ? null : "rejectAll";
  }
  if (at.place !== "composer") return fromCard(event, at);
  if (!isMod || event.shiftKey || event.key !== "Enter") return null;
  return at.isDangerous ? "look" : "approve";
}

const isOnCard = (place: Place) => place === "card" || place === "control";

function fromCard(event: Pressed, at: Circumstances): Decision | null {
  if (event.ctrlKey || event.metaKey) return null;
  if (event.key === "Enter") {
    if (at.place === "control") return null;
    if (event.shiftKey) return "approveAll";
    return at.isDangerous ? null : "approve";
  }
  // Where nothing has the focus, somebody who begins to write may mean the box.
  return event.shiftKey || !at.hasSingleKeys || at.place === "body" ? null : ofSingleKey(event, at);
}

function ofSingleKey(event: Pressed, at: Circumstances): Decision | null {
  switch (event.key) {
    case "1":
      return at.isDangerous ? null : "approve";
    case "2":
      return at.hasLadder ? "always" : null;
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

const KEY = "pilothouse-single-keys";

/** Whether 1, 2, 3, 4 and R decide. Somebody who speaks to their computer may want them off. */
export function readSingleKeys(): boolean {
  return kept(KEY) !== "off";
}

export function writeSingleKeys(isOn: boolean): void {
  keep(KEY, isOn ? "on" : "off");
}
