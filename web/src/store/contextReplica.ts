/** The replica of a context, updated by signals and responses. */
import type { ContextView, Delta } from "../api/schema";
import type { Signal } from "../api/types";
import { followBranch, applyMessages, applyOlder } from "./branch";
import type { PullResponse, StoreEvent } from "./events";
import { isEqual, share, omit } from "./structuralSharing";
import { type ContextReplica, type Remote, type Tick, markStale } from "./state";

const STATE_RECHECK_MS = 300;

type ContextSignal = Exclude<Signal, { event: "SessionChanged" }>;

/**
 * Whether a response is newer than the stored value: it was requested after the value was received, or has a higher
 * version.
 */
export function isNewer(old: Remote<{ version?: number }>, requestedAt: Tick, version: number): boolean {
  const knownVersion = old.value?.version ?? -1;
  return (
    requestedAt >= old.receivedAt ||
    version > knownVersion ||
    (version === knownVersion && requestedAt > old.requestedAt)
  );
}

export function applySignal(
  replica: ContextReplica,
  signal: ContextSignal,
  tick: Tick,
  isActive: boolean,
): ContextReplica {
  const knownVersion = replica.view.value?.version ?? -1;
  const version = signal.version ?? knownVersion;
  const marked = version > knownVersion ? markStale(replica, tick) : replica;
  switch (signal.event) {
    case "StateChanged":
      return version === knownVersion ? applyState(replica, signal, tick) : marked;
    case "ContentDelta":
      return isActive && version >= knownVersion
        ? recordStreaming(marked, signal.message_id, signal.sequence, tick)
        : marked;
    case "MessageChanged": {
      const cached = marked.messages[signal.message_id];
      if (cached === undefined) return marked;
      return { ...marked, messages: { ...marked.messages, [signal.message_id]: { ...cached, staleAt: tick } } };
    }
    case "ContextChanged":
      // A new stream reports every context as changed. For an inactive context, the version decides.
      return !isActive && version === knownVersion && signal.fields[0] === "*" ? replica : markStale(replica, tick);
    case "Error":
      if (signal.code === "unknown_context") return markStale(replica, tick); // the next fetch confirms it
      return { ...marked, notice: signal };
    case "MessageCreated":
    case "MessageCompleted":
    case "ReasoningDelta": // reasoning is pulled with the complete message
      return marked;
  }
}

/**
 * Applies the state of a signal. Signals of some states omit lists of the state: those mark the context as stale
 * instead.
 */
function applyState(
  replica: ContextReplica,
  signal: Extract<Signal, { event: "StateChanged" }>,
  tick: Tick,
): ContextReplica {
  const { value } = replica.view;
  const isShort =
    signal.cut === true ||
    signal.state.type.startsWith("awaiting_tool") ||
    signal.state.type === "awaiting_user_answer";
  if (value === null || isShort) return markStale(replica, tick);
  const view = { ...replica.view, value: share(value, { ...value, current_state: signal.state }) };
  return { ...replica, view, stateSignalledAt: tick, recheckAt: null };
}

/** Records how far the server has streamed a message. */
function recordStreaming(replica: ContextReplica, id: string, total: number, tick: Tick): ContextReplica {
  if (replica.messages[id] !== undefined) return replica;
  const old = replica.streaming[id] ?? { id, text: "", sequence: 0, total: 0, staleAt: -1, requestedAt: -1 };
  if (total <= old.total) return replica;
  return { ...replica, streaming: { ...replica.streaming, [id]: { ...old, total, staleAt: tick } } };
}

export function applyAnswer(
  replica: ContextReplica,
  event: Exclude<PullResponse, { kind: "session" }>,
  tick: Tick,
  now: number,
  isActive: boolean,
): ContextReplica {
  switch (event.kind) {
    case "context":
      return applyView(replica, event.answer, event.requestedAt, tick, now, isActive);
    case "messages":
      return isActive ? applyMessages(replica, event.pull.ids, event.answer, event.requestedAt) : replica;
    case "older":
      return isActive ? applyOlder(replica, event.pull.before, event.answer, tick) : replica;
    case "text":
      return applyDeltas(replica, event.pull.message, event.answer, event.requestedAt);
  }
}

function applyView(
  replica: ContextReplica,
  view: ContextView,
  requestedAt: Tick,
  tick: Tick,
  now: number,
  isActive: boolean,
): ContextReplica {
  const old = replica.view.value;
  if (!isNewer(replica.view, requestedAt, view.version)) return replica;
  // A state signalled during the request may be newer or older than the response: keep it until the next signal or
  // fetch.
  const isStateUncertain = old !== null && old.version === view.version && replica.stateSignalledAt > requestedAt;
  const differs = isStateUncertain && !isEqual(old.current_state, view.current_state, 4);
  const value = share(old, isStateUncertain ? { ...view, current_state: old.current_state } : view);
  const remote = { value, staleAt: replica.view.staleAt, requestedAt, receivedAt: tick };
  const recheckAt = differs ? now + STATE_RECHECK_MS : null;
  const updated = { ...replica, view: remote, recheckAt, problem: null };
  return isActive ? withStreaming(followBranch(updated, view), view, requestedAt, tick) : updated;
}

/** Drops streaming messages that are neither on the branch nor still streaming: the server died before storing them. */
function withStreaming(replica: ContextReplica, view: ContextView, requestedAt: Tick, tick: Tick): ContextReplica {
  const isOver = (id: string) => id !== view.streaming?.message_id && !replica.branch.ids.includes(id);
  const pruned = {
    ...replica,
    streaming: omit(replica.streaming, (id, message) => message.staleAt <= requestedAt && isOver(id)),
  };
  return view.streaming == null
    ? pruned
    : recordStreaming(pruned, view.streaming.message_id, view.streaming.sequence, tick);
}

/** Appends the deltas that continue the text, and ignores gaps and repeats. */
function applyDeltas(replica: ContextReplica, id: string, deltas: readonly Delta[], requestedAt: Tick): ContextReplica {
  const old = replica.streaming[id];
  if (old === undefined) return replica;
  let { text, sequence } = old;
  for (const delta of deltas) {
    if (delta.sequence !== sequence + 1) continue;
    text += delta.delta;
    sequence = delta.sequence;
  }
  const total = Math.max(old.total, sequence);
  return {
    ...replica,
    streaming: {
      ...replica.streaming,
      [id]: { ...old, text, sequence, total, requestedAt: Math.max(old.requestedAt, requestedAt) },
    },
  };
}

/** Handles a rejected pull. `listedAt` is the tick at which the session with the context's tab was received. */
export function applyFailure(
  replica: ContextReplica,
  { pull, requestedAt, problem }: Extract<StoreEvent, { type: "failed" }>,
  listedAt: Tick,
  tick: Tick,
): ContextReplica {
  const isUnknown = problem.status === 404;
  switch (pull.kind) {
    case "context":
      if (requestedAt < replica.view.receivedAt) return replica;
      // The context was signalled or listed after this request: fetch again.
      if (isUnknown && requestedAt < Math.max(replica.view.staleAt, listedAt)) return markStale(replica, tick);
      return isUnknown ? { ...replica, isGone: true } : { ...replica, problem, view: { ...replica.view, requestedAt } };
    case "text":
      return isUnknown ? { ...replica, streaming: omit(replica.streaming, (id) => id === pull.message) } : replica;
    case "older":
      return markStale({ ...replica, wantsOlder: false }, tick);
    case "messages":
    case "session":
      return replica;
  }
}
