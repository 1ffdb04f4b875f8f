/** A context of the reference server, and the views that clients receive. */
import type { BranchView, ContextView } from "../src/api/schema";
import type { Message, State } from "../src/api/types";

interface Branch {
  name: string;
  key: string;
  ids: string[];
  isOriginal: boolean;
}

export interface ModelContext {
  id: string;
  version: number;
  state: State;
  mode: string;
  active: string;
  branches: Map<string, Branch>;
  pool: Map<string, Message>;
  writing: { id: string; pieces: string[] } | null;
}

export const AT = "2026-01-01T00:00:00Z";
// The real server lists 100: fewer make gaps likely.
const MAX_LISTED_IDS = 8;

/** The tool request with pending calls, if there is one. */
export const openCall = (context: ModelContext) =>
  [...context.pool.values()]
    .filter((each) => each.type === "tool_request")
    .find((each) => each.calls.some((call) => call.status === "pending"));

export function shapeOf(context: ModelContext): ContextView {
  const branches = [...context.branches.values()].map((branch): [string, BranchView] => {
    const ids = branch.isOriginal ? [] : branch.ids.slice(-MAX_LISTED_IDS);
    return [
      branch.name,
      { name: branch.name, key: branch.key, created_at: AT, length: branch.ids.length, message_ids: ids },
    ];
  });
  const pending = openCall(context);
  return structuredClone({
    context_id: context.id,
    version: context.version,
    title: null,
    current_state: context.state,
    mode: context.mode,
    active_branch: context.active,
    branches: Object.fromEntries(branches),
    workspace: null,
    config: {},
    usage: {},
    pins: [],
    // A pending call has no output.
    pending_tool_calls: (pending?.calls ?? []).map(({ output: _, ...call }) => call),
    open_questions: [],
    queued: 0,
    elevation: null,
    turn: null,
    last_turn: "complete",
    streaming: context.writing && { message_id: context.writing.id, sequence: context.writing.pieces.length },
    parent: null,
    waiting_below: [],
    archived: false,
    damage: [],
    created_at: AT,
    updated_at: AT,
  } satisfies ContextView);
}
