/** The state of the client: plain readonly data that only `reduce` replaces. */
import type { ContextView, ErrorEvent, Problem, Session } from "../api/schema";
import type { Message } from "../api/types";
import type { Command } from "./commands";

/** The number of messages in one page. */
export const MESSAGES_PER_PAGE = 50;

/**
 * Ticks count events. A change signalled at one tick may be missing from the response to a request of an earlier tick:
 * data is stale if `staleAt` is later than `requestedAt`.
 */
export type Tick = number;

export interface State {
  readonly tick: Tick;
  readonly now: number;
  readonly connection: Connection;
  readonly session: Remote<Session>;
  /**
   * The context selected in this browser tab. Browser tabs share the session but select independently. Null until
   * known.
   */
  readonly selected: { readonly id: string | null } | null;
  /** The contexts of the open tabs, and the context that is being opened. */
  readonly contexts: { readonly [id: string]: ContextReplica };
  /** Commands whose effect the server has not confirmed, by key. */
  readonly outgoing: { readonly [key: string]: Outgoing };
}

/** `since` is the time of the last change, in milliseconds. */
type Connection =
  | { readonly status: "opening" | "up" | "down"; readonly since: number }
  | { readonly status: "refused"; readonly since: number; readonly problem: Problem };

/** A value fetched from the server. */
export interface Remote<T> {
  /** Null until the first response. */
  readonly value: T | null;
  /** When the last change was signalled. */
  readonly staleAt: Tick;
  /** When the value was requested. */
  readonly requestedAt: Tick;
  /** When the value was received. */
  readonly receivedAt: Tick;
}

function emptyRemote<T>(staleAt: Tick): Remote<T> {
  return { value: null, staleAt, requestedAt: -1, receivedAt: -1 };
}

export interface ContextReplica {
  readonly id: string;
  readonly view: Remote<ContextView>;
  /** When a signal last set the state. */
  readonly stateSignalledAt: Tick;
  /** When to fetch the context again, after signal and response disagreed about the state. */
  readonly recheckAt: number | null;
  /** Whether the server has no such context. */
  readonly isGone: boolean;
  /** Why the context could not be fetched. */
  readonly problem: Problem | null;
  /** The last error signal. */
  readonly notice: ErrorEvent | null;
  /** When the context stopped being active; null while it is active. */
  readonly inactiveSince: number | null;
  /** The server's list of the active branch, from the first position that is loaded or being loaded. */
  readonly branch: MessageList;
  /** The displayed part of `branch`; all its messages are loaded. */
  readonly shown: MessageList;
  readonly messages: { readonly [id: string]: CachedMessage };
  /** Messages that are still being written. */
  readonly streaming: { readonly [id: string]: StreamingMessage };
  /** Whether the user has scrolled to where an older page is needed. */
  readonly wantsOlder: boolean;
}

/** A range of a branch. */
export interface MessageList {
  readonly key: string;
  /** Counts how often the list started over: for another branch, or after a gap. */
  readonly generation: number;
  /** The position of the first id on the branch. */
  readonly firstPosition: number;
  readonly ids: readonly string[];
}

/** A loaded message; null if the server has none with this id. */
interface CachedMessage {
  readonly message: Message | null;
  readonly staleAt: Tick;
  readonly requestedAt: Tick;
}

/** A message that the model is still writing. */
export interface StreamingMessage {
  readonly id: string;
  /** The text up to `sequence`. */
  readonly text: string;
  readonly sequence: number;
  /** The last sequence that the server has signalled. */
  readonly total: number;
  readonly staleAt: Tick;
  readonly requestedAt: Tick;
}

/** A command that was sent. */
export interface Outgoing {
  readonly key: string;
  readonly command: Command;
  /** The id that the server gave a sent message. */
  readonly messageId: string | null;
  /** When the server answered. */
  readonly acknowledged: Tick | null;
  readonly problem: Problem | null;
}

export function initialState(now: number): State {
  return {
    tick: 0,
    now,
    connection: { status: "opening", since: now },
    session: emptyRemote(0),
    selected: null,
    contexts: {},
    outgoing: {},
  };
}

const EMPTY_LIST: MessageList = { key: "", generation: 0, firstPosition: 0, ids: [] };

export function newReplica(id: string, tick: Tick): ContextReplica {
  return {
    id,
    view: emptyRemote(tick),
    stateSignalledAt: -1,
    recheckAt: null,
    isGone: false,
    problem: null,
    notice: null,
    inactiveSince: null,
    branch: EMPTY_LIST,
    shown: EMPTY_LIST,
    messages: {},
    streaming: {},
    wantsOlder: false,
  };
}

/** Marks the context as changed on the server. */
export function markStale(replica: ContextReplica, tick: Tick): ContextReplica {
  return { ...replica, view: { ...replica.view, staleAt: tick } };
}

export const isStale = (remote: { staleAt: Tick; requestedAt: Tick }): boolean => remote.staleAt > remote.requestedAt;

/** The selected context; null for a new conversation. */
export function activeId(state: State): string | null {
  return state.selected?.id ?? null;
}
