/** The reducer: computes the next state from a state and an event. */
import type { Session } from "../api/schema";
import { dropMessages } from "./branch";
import { isNewer, applyAnswer, applyFailure, applySignal } from "./contextReplica";
import type { Command } from "./commands";
import type { TimedEvent } from "./events";
import { isEqual, share, omit } from "./structuralSharing";
import { type ContextReplica, type Outgoing, type State, type Tick, activeId, newReplica, markStale } from "./state";

/** How long the messages of an inactive context stay cached. */
export const MESSAGE_CACHE_MS = 60_000;

export function reduce(before: State, event: TimedEvent): State {
  const state = { ...before, tick: before.tick + 1, now: event.at };
  switch (event.type) {
    case "signal": {
      const { signal } = event;
      if (signal.event === "SessionChanged") {
        const isKnown = signal.version === (state.session.value?.version ?? -1);
        return isKnown ? state : { ...state, session: { ...state.session, staleAt: state.tick } };
      }
      const isActive = signal.context_id === activeId(state);
      return deriveState(
        withReplica(state, signal.context_id ?? "", (replica) => applySignal(replica, signal, state.tick, isActive)),
      );
    }
    case "answered": {
      if (event.kind === "session") return deriveState(applySession(state, event.answer, event.requestedAt));
      const { id } = event.pull;
      return deriveState(
        withReplica(state, id, (replica) => applyAnswer(replica, event, state.tick, state.now, id === activeId(state))),
      );
    }
    case "failed": {
      const { pull } = event;
      if (pull.kind === "session") return state;
      const listedAt = isOpen(state, pull.id) ? state.session.receivedAt : -1;
      return deriveState(withReplica(state, pull.id, (replica) => applyFailure(replica, event, listedAt, state.tick)));
    }
    case "older":
      return withReplica(state, event.id, (replica) => ({ ...replica, wantsOlder: replica.branch.firstPosition > 0 }));
    case "sent": {
      const { key, command } = event;
      const selected = command.kind === "activate" ? { ...state, selected: { id: command.id } } : state;
      return deriveState(withOutgoing(selected, { key, command, messageId: null, acknowledged: null, problem: null }));
    }
    case "acknowledged":
      return deriveState(acknowledge(state, event));
    case "refused": {
      const old = state.outgoing[event.key];
      if (old === undefined) return state;
      const refused = withOutgoing(state, { ...old, problem: event.problem });
      const { command } = old;
      // An unknown context is shown as gone, unless it has a tab: then the next fetch decides.
      const isGone = command.kind === "activate" && event.problem.status === 404 && !isOpen(state, command.id);
      const next = isGone ? withReplica(refused, command.id ?? "", (replica) => ({ ...replica, isGone })) : refused;
      return deriveState(markTargetStale(next, command));
    }
    case "dismissed":
      return { ...state, outgoing: omit(state.outgoing, (key) => key === event.key) };
    case "up":
    case "down":
      // Until the first connection succeeds, the state stays `opening`.
      if (event.type === state.connection.status) return state;
      return {
        ...state,
        connection: {
          status: event.type,
          since: event.type === "down" && state.connection.status === "opening" ? state.connection.since : event.at,
        },
      };
    case "locked_out":
      return { ...state, connection: { status: "refused", since: event.at, problem: event.problem } };
    case "clock":
      return dropInactive(state);
  }
}

function withReplica(state: State, id: string, change: (replica: ContextReplica) => ContextReplica): State {
  const replica = state.contexts[id];
  if (replica === undefined) return state;
  const changed = change(replica);
  return changed === replica ? state : { ...state, contexts: { ...state.contexts, [id]: changed } };
}

function withOutgoing(state: State, outgoing: Outgoing): State {
  return { ...state, outgoing: { ...state.outgoing, [outgoing.key]: outgoing } };
}

function applySession(state: State, session: Session, requestedAt: Tick): State {
  if (!isNewer(state.session, requestedAt, session.version ?? 0)) return state;
  const value = share(state.session.value, session);
  const updated: State = {
    ...state,
    session: { value, staleAt: state.session.staleAt, requestedAt, receivedAt: state.tick },
  };
  const isChanged = session.version !== state.session.value?.version;
  // Deletion closes the tab. A deleted context that is listed again was recreated under the same id.
  const isRecreated = ({ id, isGone }: ContextReplica) => isGone && isChanged && isOpen(updated, id);
  const recreated = Object.values(state.contexts).filter(isRecreated);
  return recreated.reduce((next, { id }) => withReplica(next, id, () => newReplica(id, state.tick)), updated);
}

function isOpen({ session }: State, id: string | null): boolean {
  return session.value?.open_contexts?.some((tab) => tab.context_id === id) === true;
}

/**
 * Selects the session's active context if no context is selected in this browser tab or the selected one was closed
 * elsewhere. A deleted context stays selected until the user leaves it: there may be unsent text.
 */
function selectContext(state: State): State {
  const { selected, session } = state;
  const isOpening = Object.values(state.outgoing).some(
    ({ command, problem }) => command.kind === "activate" && command.id === selected?.id && problem === null,
  );
  const isListed = selected !== null && (selected.id === null || isOpen(state, selected.id));
  const isGone = state.contexts[selected?.id ?? ""]?.isGone === true;
  if (session.value === null || isOpening || isListed || isGone) return state;
  return { ...state, selected: { id: session.value.active_context_id ?? null } };
}

/** Marks the context that a command changes as stale. */
function markTargetStale(state: State, command: Command): State {
  if (!("id" in command) || command.id === null) return state;
  return withReplica(state, command.id, (replica) => markStale(replica, state.tick));
}

function acknowledge(state: State, event: Extract<TimedEvent, { type: "acknowledged" }>): State {
  const old = state.outgoing[event.key];
  if (old === undefined) return state;
  const { answer } = event;
  const remaining = { ...state, outgoing: omit(state.outgoing, (key) => key === event.key) };
  // The response contains this change and no later one, so pulls in flight stay valid.
  if (answer.kind === "session") return applySession(remaining, answer.session, event.requestedAt);
  const marked = markTargetStale(remaining, old.command);
  const messageId = answer.kind === "sent" ? answer.sent.message_id : null;
  return withOutgoing(marked, { ...old, messageId, acknowledged: state.tick });
}

/**
 * Derives the selected context, the cached contexts and the finished commands. No response sets these directly, so a
 * late response that is not applied leaves no trace.
 */
function deriveState(before: State): State {
  const state = selectContext(before);
  const active = activeId(state);
  const tabs = (state.session.value?.open_contexts ?? []).map((tab) => tab.context_id);
  const ids = [...new Set([...tabs, ...(active === null ? [] : [active])])];
  const current = Object.fromEntries(ids.map((id) => [id, activityOf(state, id, active)]));
  const contexts = isEqual(current, state.contexts, 1) ? state.contexts : current;
  const outgoing = omit(state.outgoing, (_, each) => isFinished(each, contexts));
  return { ...state, contexts, outgoing };
}

function activityOf(state: State, id: string, active: string | null): ContextReplica {
  const replica = state.contexts[id] ?? newReplica(id, state.tick);
  if (id !== active) return replica.inactiveSince === null ? { ...replica, inactiveSince: state.now } : replica;
  return replica.inactiveSince === null ? replica : markStale({ ...replica, inactiveSince: null }, state.tick);
}

/**
 * Whether a command's effect is visible: the context was fetched after the acknowledgement, and a sent message is
 * displayed or known to be on another branch.
 */
function isFinished({ command, messageId, acknowledged }: Outgoing, contexts: State["contexts"]): boolean {
  if (acknowledged === null || !("id" in command) || command.id === null) return false;
  const replica = contexts[command.id];
  if (replica === undefined || replica.isGone || (messageId !== null && replica.shown.ids.includes(messageId)))
    return true;
  const isLoading = messageId !== null && replica.inactiveSince === null && replica.branch.ids.includes(messageId);
  return replica.view.requestedAt >= acknowledged && !isLoading;
}

function dropInactive(state: State): State {
  return Object.values(state.contexts).reduce((next, replica) => {
    const isOld =
      replica.inactiveSince !== null && state.now - replica.inactiveSince >= MESSAGE_CACHE_MS && hasMessages(replica);
    return isOld ? withReplica(next, replica.id, dropMessages) : next;
  }, state);
}

export function hasMessages(replica: ContextReplica): boolean {
  return replica.branch.ids.length > 0 || Object.keys(replica.streaming).length > 0;
}
