/** Pending calls, decisions in flight, and decisions made elsewhere. */
import type { CallView, CallDecision, Problem } from "../../api/schema";
import type { State } from "../../store/state";

export interface PendingCall {
  readonly call: CallView;
  /** The user's decision while it is being sent. */
  readonly sent: "approve" | "reject" | null;
}

/** The pending calls, oldest first, including those whose decision is being sent. */
export function selectPendingCalls(state: State, id: string): readonly PendingCall[] {
  const verdicts = new Map(
    outgoingDecisions(state, id).flatMap(({ body }) => body.decisions.map((each) => [each.id, each.verdict] as const)),
  );
  return (state.contexts[id]?.view.value?.pending_tool_calls ?? []).map((call) => ({
    call,
    sent: verdicts.get(call.id) ?? null,
  }));
}

function outgoingDecisions(state: State, id: string) {
  return Object.values(state.outgoing).flatMap(({ command, problem }) =>
    command.kind === "decide" && command.id === id && problem === null ? [command] : [],
  );
}

/** A decision that the server has rejected. */
export interface RejectedDecision {
  readonly key: string;
  readonly decisions: readonly CallDecision[];
  readonly problem: Problem;
}

export function rejectedDecisions(state: State, id: string): readonly RejectedDecision[] {
  return Object.values(state.outgoing).flatMap(({ key, command, problem }) =>
    command.kind === "decide" && command.id === id && problem !== null
      ? [{ key, decisions: command.body.decisions, problem }]
      : [],
  );
}

const ALREADY_DECIDED_CODES = new Set(["call_decided", "unknown_call", "digest_changed"]);

/** Whether the server refused a decision because the call was decided before. */
export function isAlreadyDecided({ code }: Problem): boolean {
  return code === "call_decided" || code === "unknown_call";
}

/**
 * The decisions to send again without the one that came too late. Null if the request failed for another reason. Each
 * result is shorter than its input, so repeating it terminates.
 */
export function remainingDecisions({ decisions, problem }: RejectedDecision): readonly CallDecision[] | null {
  const lateId = problem.params?.call_id;
  if (!ALREADY_DECIDED_CODES.has(problem.code) || typeof lateId !== "string") return null;
  const remaining = decisions.filter((each) => each.id !== lateId);
  return remaining.length < decisions.length ? remaining : null;
}

/** Calls that are no longer pending and were not decided in this tab. */
export function callsDecidedElsewhere(
  before: readonly CallView[],
  now: readonly CallView[],
  decidedHere: ReadonlySet<string>,
): readonly CallView[] {
  const pendingIds = new Set(now.map(({ id }) => id));
  return before.filter(({ id }) => !pendingIds.has(id) && !decidedHere.has(id));
}

/** The latest record of a call, from its message. */
export function latestRecord(state: State, id: string, call: CallView): CallView {
  const message = state.contexts[id]?.messages[call.message_id]?.message;
  return (message?.type === "tool_request" ? message.calls.find((each) => each.id === call.id) : undefined) ?? call;
}

/** The ticked calls that are still pending; all calls if none is ticked. */
export function selectedCalls(calls: readonly CallView[], checked: ReadonlySet<string>): readonly CallView[] {
  const selected = calls.filter(({ id }) => checked.has(id));
  return selected.length > 0 ? selected : calls;
}

/** The number of calls, questions and sub-agents that wait for the user in all open conversations. */
export function countWaiting(state: State): number {
  return Object.values(state.contexts).reduce((sum, { view: { value } }) => {
    if (value === null) return sum;
    // A sub-agent that is open here is counted by itself.
    const subagents = value.waiting_below.filter((child) => state.contexts[child] === undefined);
    return sum + value.pending_tool_calls.length + value.open_questions.length + subagents.length;
  }, 0);
}

/** Whether a read-only mode offers to run this one call. */
export function isElevationOffer(call: Pick<CallView, "reason">): boolean {
  return call.reason?.code === "elevation_offered";
}
