/** What is shown, computed from the state. Use them with `store.slice`. */
import type { CallShape, Preferences } from "../api/schema";
import states from "../api/states.json";
import type { Message } from "../api/types";
import { inOrder } from "./order";
import { once } from "./share";
import { type Copy, type Outgoing, type State, type Writing, activeId } from "./state";
import { BANNER } from "./wants";

export interface Visible {
  readonly messages: readonly Message[];
  /** What the person has said and the server is about to take: it stands before the answer to it. */
  readonly sending: readonly Outgoing[];
  readonly writing: readonly Writing[];
  /** What they have said while the agent was busy: it stands last. */
  readonly waiting: readonly Outgoing[];
  readonly hasOlder: boolean;
}

export function visible(state: State, id: string): Visible {
  const copy = state.contexts[id];
  const messages = copy === undefined ? [] : shownMessages(copy);
  const sent = Object.values(state.outgoing).filter(({ command }) => command.kind === "send" && command.id === id);
  const isWaiting = ({ command }: Outgoing) => command.kind === "send" && command.body.queue === true;
  return {
    messages,
    sending: sent.filter((each) => !isWaiting(each)),
    writing: Object.values(copy?.texts ?? {}),
    waiting: sent.filter(isWaiting),
    hasOlder: (copy?.shown.first ?? 0) > 0,
  };
}

/** The list is made once for what it is made from: a piece of an answer leaves that alone. */
const shownMessages = once(
  (copy: Copy) => [copy.shown, copy.messages],
  ({ shown, messages }) => shown.ids.flatMap((id) => messages[id]?.message ?? []),
);

export interface TabShown {
  readonly id: string;
  readonly title: string | null;
  readonly isBusy: boolean;
  /** A person must decide or answer something there, or in one of its sub-agents. */
  readonly isWaiting: boolean;
}

/** The open tabs in their order, as the person has just put it. A title changes with its context, not the session. */
export function tabs(state: State): readonly TabShown[] {
  const asked = Object.values(state.outgoing).flatMap(({ command, problem }) => (problem === null ? [command] : []));
  const isOpen = (id: string) =>
    state.contexts[id]?.isGone !== true && !asked.some((each) => each.kind === "close" && each.id === id);
  const order = asked.findLast((each) => each.kind === "order")?.ids ?? [];
  const open = (state.session.value?.open_contexts ?? []).filter((tab) => isOpen(tab.context_id));
  return inOrder(open, order, (tab) => tab.context_id).map(({ context_id: id, title }) => {
    const shape = state.contexts[id]?.shape.value ?? null;
    const isWaiting =
      shape !== null &&
      [shape.pending_tool_calls, shape.open_questions, shape.waiting_below].some((each) => each.length > 0);
    return { id, title: (shape === null ? title : shape.title) ?? null, isBusy: isBusy(state, id), isWaiting };
  });
}

/** Where to look when this one is gone. */
export function nextTo(state: State, id: string | null): string | null {
  return tabs(state).findLast((tab) => tab.id !== id)?.id ?? null;
}

/** Whether something goes on by itself. */
export function isBusy(state: State, id: string): boolean {
  const current = state.contexts[id]?.shape.value?.current_state;
  return current !== undefined && !states.resting.includes(current.type);
}

/** Whether the turn is being stopped already. */
export function isStopping(state: State, id: string): boolean {
  const asked = Object.values(state.outgoing).some(
    ({ command, problem }) =>
      command.kind === "steer" && command.how === "cancel" && command.id === id && problem === null,
  );
  return asked || state.contexts[id]?.shape.value?.current_state.type === "cancelling";
}

/** Whether a message would be taken at once, or wait for the end of the turn, or cannot be sent now. */
export function canSend(state: State, id: string): "now" | "later" | "no" {
  const copy = state.contexts[id];
  if (!isConnected(state) || copy === undefined || copy.isGone || copy.shape.value === null) return "no";
  return states.taking_messages.includes(copy.shape.value.current_state.type) ? "now" : "later";
}

/** Why a message cannot be edited, or the branch switched: both are done between two turns. */
export function whyNotNow(state: State, id: string): "offline" | "busy" | null {
  if (!isConnected(state)) return "offline";
  return canSend(state, id) === "now" ? null : "busy";
}

/** Oldest first, without those that are being answered. */
export function questions(state: State, id: string): readonly CallShape[] {
  const answered = new Set(
    Object.values(state.outgoing).flatMap(({ command, problem }) =>
      command.kind === "answer" && problem === null ? [command.body.call_id] : [],
    ),
  );
  return (state.contexts[id]?.shape.value?.open_questions ?? []).filter((call) => !answered.has(call.id));
}

/** The mode in which a context is, or is being put. */
export function modeOf(state: State, id: string): string | null {
  const asked = Object.values(state.outgoing).findLast(
    ({ command, problem }) => command.kind === "mode" && command.id === id && problem === null,
  );
  if (asked?.command.kind === "mode") return asked.command.mode;
  return state.contexts[id]?.shape.value?.mode ?? null;
}

export function isConnected(state: State): boolean {
  return state.connection.is === "up";
}

export function showsBanner(state: State): boolean {
  const { is, since } = state.connection;
  return is === "refused" || (is !== "up" && state.now - since >= BANNER);
}

export { activeId };

/** Whether the turn that ended can be gone on with, without a new message. */
export function canContinue(state: State, id: string): boolean {
  const shape = state.contexts[id]?.shape.value;
  if (shape == null) return false;
  const { type } = shape.current_state;
  return (
    type === "failed" ||
    type === "waiting_for_recovery" ||
    (type === "idle" && states.continuable.includes(shape.last_turn))
  );
}

/** How many messages the branch has that is looked at. */
export function lengthOf(state: State, id: string): number {
  const shape = state.contexts[id]?.shape.value;
  return shape == null ? 0 : (shape.branches[shape.active_branch]?.length ?? 0);
}

/** As the person has just put them. Nothing, until they are known. */
export function preferencesOf(state: State): Preferences | undefined {
  const known = state.session.value?.preferences;
  const asked = Object.values(state.outgoing).flatMap(({ command, problem }) =>
    command.kind === "preferences" && problem === null ? [command.body] : [],
  );
  return known === undefined || asked.length === 0 ? known : Object.assign({ ...known }, ...asked);
}
