/** What the page knows. All of it is plain frozen data; `reduce` is the only one that makes a new one. */
import type { ContextShape, ErrorTold, Problem, Session } from "../api/schema";
import type { Message } from "../api/types";
import type { Command } from "./commands";

/** How many messages are loaded at once. */
export const PAGE = 50;

/**
 * Ticks count events. Something that was told at a tick is not certain to be in the answer to what was asked at an
 * earlier one; that comparison is all that "is it current?" ever means here.
 */
export type Tick = number;

export interface State {
  readonly tick: Tick;
  readonly now: number;
  readonly connection: Connection;
  readonly session: Pulled<Session>;
  /** What is looked at here. Two pages share their tabs, but each looks at its own; null until it is known. */
  readonly chosen: { readonly id: string | null } | null;
  /** The open tabs, and what is being opened. */
  readonly contexts: { readonly [id: string]: Copy };
  /** What the person has asked for and the server has not finished taking, by its key. */
  readonly outgoing: { readonly [key: string]: Outgoing };
}

/** `since` is when it became so. */
export type Connection =
  | { readonly is: "opening" | "up" | "down"; readonly since: number }
  | { readonly is: "refused"; readonly since: number; readonly problem: Problem };

/** Something of the server's. `told`: when we heard of a change; `asked` and `got`: of the answer that we have. */
export interface Pulled<T> {
  readonly value: T | null;
  readonly told: Tick;
  readonly asked: Tick;
  readonly got: Tick;
}

export function unpulled<T>(told: Tick): Pulled<T> {
  return { value: null, told, asked: -1, got: -1 };
}

export interface Copy {
  readonly id: string;
  readonly shape: Pulled<ContextShape>;
  /** When a signal last told the state, and until when it waits for a pull to say whether that was the last word. */
  readonly stateTold: Tick;
  readonly doubtUntil: number | null;
  readonly isGone: boolean;
  /** Why the server does not give it. */
  readonly problem: Problem | null;
  /** The last error that it told of. */
  readonly notice: ErrorTold | null;
  /** Since when it is not the active one. */
  readonly leftAt: number | null;
  /** The active branch as the server has it, from the first position that is loaded or being loaded. */
  readonly branch: Order;
  /** What is shown of it: everything of this is in `messages`. It changes only to what can be shown whole. */
  readonly shown: Order;
  readonly messages: { readonly [id: string]: Held };
  readonly texts: { readonly [id: string]: Writing };
  readonly wantsOlder: boolean;
}

/** `load` counts how often the list was begun anew: for another branch, or after a gap. */
export interface Order {
  readonly key: string;
  readonly load: number;
  readonly first: number;
  readonly ids: readonly string[];
}

/** A message, or null for one that the server has not. */
export interface Held {
  readonly message: Message | null;
  readonly told: Tick;
  readonly asked: Tick;
}

/** A message that is being written: its text up to `sequence`. `total` is how far the server is. */
export interface Writing {
  readonly id: string;
  readonly text: string;
  readonly sequence: number;
  readonly total: number;
  readonly told: Tick;
  readonly asked: Tick;
}

/** `messageId` is what a message became, `acknowledged` when. */
export interface Outgoing {
  readonly key: string;
  readonly command: Command;
  readonly messageId: string | null;
  readonly acknowledged: Tick | null;
  readonly problem: Problem | null;
}

export function initial(now: number): State {
  return {
    tick: 0,
    now,
    connection: { is: "opening", since: now },
    session: unpulled(0),
    chosen: null,
    contexts: {},
    outgoing: {},
  };
}

const NOTHING: Order = { key: "", load: 0, first: 0, ids: [] };

export function newCopy(id: string, tick: Tick): Copy {
  return {
    id,
    shape: unpulled(tick),
    stateTold: -1,
    doubtUntil: null,
    isGone: false,
    problem: null,
    notice: null,
    leftAt: null,
    branch: NOTHING,
    shown: NOTHING,
    messages: {},
    texts: {},
    wantsOlder: false,
  };
}

/** Something of it has changed. */
export function tell(copy: Copy, tick: Tick): Copy {
  return { ...copy, shape: { ...copy.shape, told: tick } };
}

export const isWanted = (pulled: { told: Tick; asked: Tick }): boolean => pulled.told > pulled.asked;

/** The context that is looked at; null for one that is not begun. */
export function activeId(state: State): string | null {
  return state.chosen?.id ?? null;
}
