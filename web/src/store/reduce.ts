/** The one function that makes a new state out of an old one and something that has happened. */
import type { Session } from "../api/schema";
import { forget } from "./branch";
import { isNewer, takeAnswer, takeFailure, takeSignal } from "./copy";
import type { Command } from "./commands";
import type { Event } from "./events";
import { isAlike, share, without } from "./share";
import { type Copy, type Outgoing, type State, type Tick, activeId, newCopy, tell } from "./state";

/** How long the messages of a context are kept after somebody looked at it. */
export const KEPT = 60_000;

export function reduce(before: State, event: Event): State {
  const state = { ...before, tick: before.tick + 1, now: event.at };
  switch (event.type) {
    case "signal": {
      const { signal } = event;
      if (signal.event === "SessionChanged") {
        const isKnown = signal.version === (state.session.value?.version ?? -1);
        return isKnown ? state : { ...state, session: { ...state.session, told: state.tick } };
      }
      const isActive = signal.context_id === activeId(state);
      return tidy(withCopy(state, signal.context_id ?? "", (copy) => takeSignal(copy, signal, state.tick, isActive)));
    }
    case "answered": {
      if (event.kind === "session") return tidy(takeSession(state, event.answer, event.asked));
      const { id } = event.pull;
      return tidy(
        withCopy(state, id, (copy) => takeAnswer(copy, event, state.tick, state.now, id === activeId(state))),
      );
    }
    case "failed": {
      const { pull } = event;
      if (pull.kind === "session") return state;
      const listed = isOpen(state, pull.id) ? state.session.got : -1;
      return tidy(withCopy(state, pull.id, (copy) => takeFailure(copy, event, listed, state.tick)));
    }
    case "older":
      return withCopy(state, event.id, (copy) => ({ ...copy, wantsOlder: copy.branch.first > 0 }));
    case "sent": {
      const { key, command } = event;
      const looking = command.kind === "activate" ? { ...state, chosen: { id: command.id } } : state;
      return tidy(withOutgoing(looking, { key, command, messageId: null, acknowledged: null, problem: null }));
    }
    case "acknowledged":
      return tidy(acknowledge(state, event));
    case "refused": {
      const old = state.outgoing[event.key];
      if (old === undefined) return state;
      const refused = withOutgoing(state, { ...old, problem: event.problem });
      const { command } = old;
      // What cannot be opened because there is none says so in its place. Where it has a tab, a pull decides.
      const isGone = command.kind === "activate" && event.problem.status === 404 && !isOpen(state, command.id);
      const known = isGone ? withCopy(refused, command.id ?? "", (copy) => ({ ...copy, isGone })) : refused;
      return tidy(toldOf(known, command));
    }
    case "dismissed":
      return { ...state, outgoing: without(state.outgoing, (key) => key === event.key) };
    case "up":
    case "down":
      // A first connection that does not come about is one that opens, for as long as it takes.
      if (event.type === state.connection.is) return state;
      return {
        ...state,
        connection: {
          is: event.type,
          since: event.type === "down" && state.connection.is === "opening" ? state.connection.since : event.at,
        },
      };
    case "locked_out":
      return { ...state, connection: { is: "refused", since: event.at, problem: event.problem } };
    case "clock":
      return forgetOld(state);
  }
}

function withCopy(state: State, id: string, change: (copy: Copy) => Copy): State {
  const copy = state.contexts[id];
  if (copy === undefined) return state;
  const changed = change(copy);
  return changed === copy ? state : { ...state, contexts: { ...state.contexts, [id]: changed } };
}

function withOutgoing(state: State, outgoing: Outgoing): State {
  return { ...state, outgoing: { ...state.outgoing, [outgoing.key]: outgoing } };
}

function takeSession(state: State, session: Session, asked: Tick): State {
  if (!isNewer(state.session, asked, session.version ?? 0)) return state;
  const value = share(state.session.value, session);
  const taken: State = { ...state, session: { value, told: state.session.told, asked, got: state.tick } };
  const isChanged = session.version !== state.session.value?.version;
  // A deletion closes the tab: one that is listed may have been made anew under its old id.
  const isBack = ({ id, isGone }: Copy) => isGone && isChanged && isOpen(taken, id);
  const back = Object.values(state.contexts).filter(isBack);
  return back.reduce((found, { id }) => withCopy(found, id, () => newCopy(id, state.tick)), taken);
}

function isOpen({ session }: State, id: string | null): boolean {
  return session.value?.open_contexts?.some((tab) => tab.context_id === id) === true;
}

/**
 * Where nothing was chosen here yet, or what was is no longer open, the session says what is looked at. One that was
 * deleted stays until the person goes elsewhere: they may be writing there, and must not find themselves in another.
 */
function lookElsewhere(state: State): State {
  const { chosen, session } = state;
  const isOpening = Object.values(state.outgoing).some(
    ({ command, problem }) => command.kind === "activate" && command.id === chosen?.id && problem === null,
  );
  const isThere = chosen !== null && (chosen.id === null || isOpen(state, chosen.id));
  const isGone = state.contexts[chosen?.id ?? ""]?.isGone === true;
  if (session.value === null || isOpening || isThere || isGone) return state;
  return { ...state, chosen: { id: session.value.active_context_id ?? null } };
}

/** What a command was about is told to have changed. */
function toldOf(state: State, command: Command): State {
  if (!("id" in command) || command.id === null) return state;
  return withCopy(state, command.id, (copy) => tell(copy, state.tick));
}

function acknowledge(state: State, event: Extract<Event, { type: "acknowledged" }>): State {
  const old = state.outgoing[event.key];
  if (old === undefined) return state;
  const { answer } = event;
  const done = { ...state, outgoing: without(state.outgoing, (key) => key === event.key) };
  // The answer tells of this change and of none that came later: what is being pulled meanwhile is not older for it.
  if (answer.kind === "session") return takeSession(done, answer.session, event.asked);
  const told = toldOf(done, old.command);
  const messageId = answer.kind === "sent" ? answer.sent.message_id : null;
  return withOutgoing(told, { ...old, messageId, acknowledged: state.tick });
}

/**
 * Derives what follows from every change: which context is looked at, which are kept, and which commands are finished.
 * Nothing here is set by an answer itself, so an answer that comes late and is not taken leaves nothing behind.
 */
function tidy(before: State): State {
  const state = lookElsewhere(before);
  const active = activeId(state);
  const tabs = (state.session.value?.open_contexts ?? []).map((tab) => tab.context_id);
  const wanted = [...new Set([...tabs, ...(active === null ? [] : [active])])];
  const kept = Object.fromEntries(wanted.map((id) => [id, lookedAt(state, id, active)]));
  const contexts = isAlike(kept, state.contexts, 1) ? state.contexts : kept;
  const outgoing = without(state.outgoing, (_, each) => isOver(each, contexts));
  return { ...state, contexts, outgoing };
}

function lookedAt(state: State, id: string, active: string | null): Copy {
  const copy = state.contexts[id] ?? newCopy(id, state.tick);
  if (id !== active) return copy.leftAt === null ? { ...copy, leftAt: state.now } : copy;
  return copy.leftAt === null ? copy : tell({ ...copy, leftAt: null }, state.tick);
}

/** Whether what was asked for is seen: pulled since then, and for a message in its place or known to be elsewhere. */
function isOver({ command, messageId, acknowledged }: Outgoing, contexts: State["contexts"]): boolean {
  if (acknowledged === null || !("id" in command) || command.id === null) return false;
  const copy = contexts[command.id];
  if (copy === undefined || copy.isGone || (messageId !== null && copy.shown.ids.includes(messageId))) return true;
  const isComing = messageId !== null && copy.leftAt === null && copy.branch.ids.includes(messageId);
  return copy.shape.asked >= acknowledged && !isComing;
}

function forgetOld(state: State): State {
  return Object.values(state.contexts).reduce((found, copy) => {
    const isOld = copy.leftAt !== null && state.now - copy.leftAt >= KEPT && hasMessages(copy);
    return isOld ? withCopy(found, copy.id, forget) : found;
  }, state);
}

export function hasMessages(copy: Copy): boolean {
  return copy.branch.ids.length > 0 || Object.keys(copy.texts).length > 0;
}
