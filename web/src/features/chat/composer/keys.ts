/** What a key does in the box. A character that is being composed comes first, then an open list, then the box. */
import { makeCell } from "../../../app/cell";
import { keep, kept } from "../../../app/looks";
import { isComposing } from "../../../app/shortcuts";

export interface KeyPressed {
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

export interface BoxNow {
  /** How many files are offered; null where the list is closed. */
  readonly listed: number | null;
  readonly isEmpty: boolean;
  readonly isRunning: boolean;
  /** A keyboard on the glass: it has no Shift+Enter. */
  readonly isTouch: boolean;
  readonly sendsWith: SendKeys;
}

/** What sends; the other one of the two begins a line. */
export type SendKeys = "enter" | "mod-enter";

const KEY = "pilothouse-send-keys";

export const sendKeys = makeCell<SendKeys>(kept(KEY) === "mod-enter" ? "mod-enter" : "enter");

export function writeSendKeys(keys: SendKeys): void {
  keep(KEY, keys);
  sendKeys.set(keys);
}

/** A keyboard on the glass has no Shift+Enter, so that Enter begins a line there. */
export function isTouch(): boolean {
  return matchMedia("(pointer: coarse)").matches;
}

export type BoxKey = "send" | "stop" | "edit_last" | "nothing" | "list_up" | "list_down" | "list_choose" | "list_close";

const LIST_KEYS: Readonly<Record<string, BoxKey>> = {
  ArrowUp: "list_up",
  ArrowDown: "list_down",
  Enter: "list_choose",
  Tab: "list_choose",
};

/** Null where the key does what it always does in a text; "nothing" where it must not even do that. */
export function boxKeyOf(event: KeyPressed, box: BoxNow): BoxKey | null {
  if (isComposing(event) || event.defaultPrevented) return null;
  if (box.sendsWith === "mod-enter" && event.key === "Enter" && box.listed === null) return modEnterOf(event, box);
  if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return null;
  if (box.listed !== null && event.key === "Escape") return "list_close";
  const ofList = (box.listed ?? 0) > 0 ? LIST_KEYS[event.key] : undefined;
  if (ofList !== undefined) return ofList;
  if (event.key === "Enter") return box.isTouch ? null : event.repeat ? "nothing" : "send";
  if (event.repeat) return null;
  if (event.key === "Escape") return box.isRunning ? "stop" : null;
  return event.key === "ArrowUp" && box.isEmpty ? "edit_last" : null;
}

/** With an empty box it is a decision about a call that waits, which is not ours. */
function modEnterOf(event: KeyPressed, box: BoxNow): BoxKey | null {
  const isMod = event.ctrlKey !== event.metaKey && !event.shiftKey && !event.altKey;
  if (!isMod || box.isEmpty) return null;
  return event.repeat ? "nothing" : "send";
}
