/** Names for parts of the generated types, and the errors of requests. */
import type {
  ContentDelta,
  ContextChanged,
  ContextView,
  ErrorEvent,
  MessageChanged,
  MessageCompleted,
  MessageCreated,
  MessagePage,
  Problem,
  ReasoningDelta,
  SessionChanged,
  StateChanged,
} from "./schema";

export type State = ContextView["current_state"];
export type Message = MessagePage["items"][number];

/** A signal of the stream. `cut` marks a signal whose lists or texts were shortened. */
export type Signal =
  | (StateChanged & { readonly cut?: boolean })
  | MessageCreated
  | ContentDelta
  | ReasoningDelta
  | MessageCompleted
  | MessageChanged
  | ContextChanged
  | SessionChanged
  | (ErrorEvent & { readonly event: "Error" });

/** An error response of the server. */
export class ServerError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }

  get isTemporary(): boolean {
    return [429, 502, 503].includes(this.problem.status);
  }
}

const UNSAVED_CODES = new Set(["store_refused", "store_read_only", "store_unavailable"]);

/** The server cannot save: its disk is full, or its data folder is not writable. */
export function isUnsaved({ status, code }: Problem): boolean {
  return status === 507 || UNSAVED_CODES.has(code);
}

/** The request got no response; the server may or may not have processed it. */
export class ConnectionLost extends Error {}

/** Converts any error to a problem that can be shown. */
export function problemOfError(error: unknown): Problem {
  if (error instanceof ServerError) return error.problem;
  return { title: "", status: 0, code: error instanceof ConnectionLost ? "connection_lost" : "internal", detail: "" };
}
