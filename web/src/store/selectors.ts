/** Selectors: values derived from the state, for `useSelector` and `store.select`. */
import type { CallView, Preferences } from "../api/schema";
import states from "../api/states.json";
import type { Message } from "../api/types";
import { sortByIds } from "./tabOrder";
import { memoizeByParts } from "./structuralSharing";
import { type ContextReplica, type Outgoing, type State, type StreamingMessage, activeId } from "./state";
import { BANNER_DELAY_MS } from "./wants";

interface VisibleMessages {
  readonly messages: readonly Message[];
  /** Sent messages that the server has not stored yet; displayed before the streaming answer. */
  readonly sending: readonly Outgoing[];
  readonly streaming: readonly StreamingMessage[];
  /** Messages sent to the queue while the agent is busy; displayed last. */
  readonly queued: readonly Outgoing[];
  readonly hasOlder: boolean;
}

export function visibleMessages(state: State, id: string): VisibleMessages {
  const replica = state.contexts[id];
  const messages = replica === undefined ? [] : shownMessages(replica);
  const sent = Object.values(state.outgoing).filter(({ command }) => command.kind === "send" && command.id === id);
  const isQueued = ({ command }: Outgoing) => command.kind === "send" && command.body.queue === true;
  return {
    messages,
    sending: sent.filter((each) => !isQueued(each)),
    streaming: Object.values(replica?.streaming ?? {}),
    queued: sent.filter(isQueued),
    hasOlder: (replica?.shown.firstPosition ?? 0) > 0,
  };
}

/** Memoized, because deltas of an answer do not change the list. */
const shownMessages = memoizeByParts(
  (replica: ContextReplica) => [replica.shown, replica.messages],
  ({ shown, messages }) => shown.ids.flatMap((id) => messages[id]?.message ?? []),
);

export interface Tab {
  readonly id: string;
  readonly title: string | null;
  readonly isBusy: boolean;
  /** Whether the context or one of its sub-agents needs an approval or an answer. */
  readonly isWaiting: boolean;
}

/**
 * The open tabs in their order, including unconfirmed changes. The title comes from the context, which knows it before
 * the session does.
 */
export function openTabs(state: State): readonly Tab[] {
  const commands = Object.values(state.outgoing).flatMap(({ command, problem }) => (problem === null ? [command] : []));
  const isOpen = (id: string) =>
    state.contexts[id]?.isGone !== true && !commands.some((each) => each.kind === "close" && each.id === id);
  const order = commands.findLast((each) => each.kind === "order")?.ids ?? [];
  const open = (state.session.value?.open_contexts ?? []).filter((tab) => isOpen(tab.context_id));
  return sortByIds(open, order, (tab) => tab.context_id).map(({ context_id: id, title }) => {
    const view = state.contexts[id]?.view.value ?? null;
    const isWaiting =
      view !== null &&
      [view.pending_tool_calls, view.open_questions, view.waiting_below].some((each) => each.length > 0);
    return { id, title: (view === null ? title : view.title) ?? null, isBusy: isBusy(state, id), isWaiting };
  });
}

/** The tab to select when the given one is closed or deleted. */
export function fallbackTab(state: State, id: string | null): string | null {
  return openTabs(state).findLast((tab) => tab.id !== id)?.id ?? null;
}

/** Whether the runtime is working on the context. */
export function isBusy(state: State, id: string): boolean {
  const current = state.contexts[id]?.view.value?.current_state;
  return current !== undefined && !states.resting.includes(current.type);
}

/** Whether the turn was cancelled but has not ended yet. */
export function isStopping(state: State, id: string): boolean {
  const isRequested = Object.values(state.outgoing).some(
    ({ command, problem }) =>
      command.kind === "control" && command.action === "cancel" && command.id === id && problem === null,
  );
  return isRequested || state.contexts[id]?.view.value?.current_state.type === "cancelling";
}

/** Whether a message would be processed now, queued until the turn ends, or cannot be sent. */
export function canSend(state: State, id: string): "now" | "later" | "no" {
  const replica = state.contexts[id];
  if (!isConnected(state) || replica === undefined || replica.isGone || replica.view.value === null) return "no";
  return states.taking_messages.includes(replica.view.value.current_state.type) ? "now" : "later";
}

/**
 * Why messages cannot be edited and branches cannot be switched: both need a connection and a context between two
 * turns.
 */
export function editBlockedReason(state: State, id: string): "offline" | "busy" | null {
  if (!isConnected(state)) return "offline";
  return canSend(state, id) === "now" ? null : "busy";
}

/** The open questions, oldest first, without those whose answer is being sent. */
export function openQuestions(state: State, id: string): readonly CallView[] {
  const answeredIds = new Set(
    Object.values(state.outgoing).flatMap(({ command, problem }) =>
      command.kind === "answer" && problem === null ? [command.body.call_id] : [],
    ),
  );
  return (state.contexts[id]?.view.value?.open_questions ?? []).filter((call) => !answeredIds.has(call.id));
}

/** The mode of a context, including an unconfirmed switch. */
export function modeOf(state: State, id: string): string | null {
  const pending = Object.values(state.outgoing).findLast(
    ({ command, problem }) => command.kind === "mode" && command.id === id && problem === null,
  );
  if (pending?.command.kind === "mode") return pending.command.mode;
  return state.contexts[id]?.view.value?.mode ?? null;
}

export function isConnected(state: State): boolean {
  return state.connection.status === "up";
}

export function showsBanner(state: State): boolean {
  const { status, since } = state.connection;
  return status === "refused" || (status !== "up" && state.now - since >= BANNER_DELAY_MS);
}

export { activeId };

/** Whether the last turn can be continued without a new message. */
export function canContinue(state: State, id: string): boolean {
  const view = state.contexts[id]?.view.value;
  if (view == null) return false;
  const { type } = view.current_state;
  return (
    type === "failed" ||
    type === "waiting_for_recovery" ||
    (type === "idle" && states.continuable.includes(view.last_turn))
  );
}

/** The number of messages on the active branch. */
export function branchLength(state: State, id: string): number {
  const view = state.contexts[id]?.view.value;
  return view == null ? 0 : (view.branches[view.active_branch]?.length ?? 0);
}

/** The preferences, including unconfirmed changes; undefined until the session is loaded. */
export function preferencesOf(state: State): Preferences | undefined {
  const saved = state.session.value?.preferences;
  const changes = Object.values(state.outgoing).flatMap(({ command, problem }) =>
    command.kind === "preferences" && problem === null ? [command.body] : [],
  );
  return saved === undefined || changes.length === 0 ? saved : Object.assign({ ...saved }, ...changes);
}
