/** What waits for a decision, what is being decided, and what somebody else has decided meanwhile. */
import type { CallShape, OneDecision, Problem } from "../../api/schema";
import type { State } from "../../store/state";

export interface Waiting {
  readonly call: CallShape;
  /** What the person has said about it, while that is on its way. */
  readonly sent: "approve" | "reject" | null;
}

/** Oldest first, those that are being decided too. */
export function waitingCalls(state: State, id: string): readonly Waiting[] {
  const sent = new Map(
    decidesOf(state, id).flatMap(({ body }) => body.decisions.map((each) => [each.id, each.verdict] as const)),
  );
  return (state.contexts[id]?.shape.value?.pending_tool_calls ?? []).map((call) => ({
    call,
    sent: sent.get(call.id) ?? null,
  }));
}

function decidesOf(state: State, id: string) {
  return Object.values(state.outgoing).flatMap(({ command, problem }) =>
    command.kind === "decide" && command.id === id && problem === null ? [command] : [],
  );
}

/** A decision that the server did not take. */
export interface Refused {
  readonly key: string;
  readonly decisions: readonly OneDecision[];
  readonly problem: Problem;
}

export function refusedDecisions(state: State, id: string): readonly Refused[] {
  return Object.values(state.outgoing).flatMap(({ key, command, problem }) =>
    command.kind === "decide" && command.id === id && problem !== null
      ? [{ key, decisions: command.body.decisions, problem }]
      : [],
  );
}

const ANSWERED = new Set(["call_decided", "unknown_call", "digest_changed"]);

/** Whether the server refused a decision because the call was decided before. */
export function isDecidedAlready({ code }: Problem): boolean {
  return code === "call_decided" || code === "unknown_call";
}

/**
 * What is left to say of several decisions of which one came too late: all the others, as they were. Null where that is
 * not what was wrong. It is shorter each time, so that it ends.
 */
export function restOf({ decisions, problem }: Refused): readonly OneDecision[] | null {
  const late = problem.params?.call_id;
  if (!ANSWERED.has(problem.code) || typeof late !== "string") return null;
  const rest = decisions.filter((each) => each.id !== late);
  return rest.length < decisions.length ? rest : null;
}

/** What waited and waits no longer, though nobody here has decided it. */
export function answeredElsewhere(
  before: readonly CallShape[],
  now: readonly CallShape[],
  mine: ReadonlySet<string>,
): readonly CallShape[] {
  const still = new Set(now.map(({ id }) => id));
  return before.filter(({ id }) => !still.has(id) && !mine.has(id));
}

/** What became of a call, from the message that asked for it. */
export function recordOf(state: State, id: string, call: CallShape): CallShape {
  const message = state.contexts[id]?.messages[call.message_id]?.message;
  return (message?.type === "tool_request" ? message.calls.find((each) => each.id === call.id) : undefined) ?? call;
}

/** Those that are ticked, as far as they still wait; all of them where none is. */
export function chosenOf(calls: readonly CallShape[], ticked: ReadonlySet<string>): readonly CallShape[] {
  const chosen = calls.filter(({ id }) => ticked.has(id));
  return chosen.length > 0 ? chosen : calls;
}

/** How many things wait for a person, in all conversations that are open. */
export function waitingEverywhere(state: State): number {
  return Object.values(state.contexts).reduce((sum, { shape: { value } }) => {
    if (value === null) return sum;
    const below = value.waiting_below.filter((child) => state.contexts[child] === undefined); // else it counts itself
    return sum + value.pending_tool_calls.length + value.open_questions.length + below.length;
  }, 0);
}

/** A mode that only reads offers to run this one call. */
export function isOffer(call: Pick<CallShape, "reason">): boolean {
  return call.reason?.code === "elevation_offered";
}
