/** Names for what the generated types have no name of their own for. No shape is written here. */
import type {
  ContentDelta,
  ContextChanged,
  ContextShape,
  ErrorTold,
  MessageChanged,
  MessageCompleted,
  MessageCreated,
  MessagePage,
  Problem,
  SessionChanged,
  StateChanged,
} from "./schema";

export type State = ContextShape["current_state"];
export type Message = MessagePage["items"][number];

/** A signal as it comes over the stream. `cut` marks one whose lists or texts did not fit. */
export type Signal =
  | (StateChanged & { readonly cut?: boolean })
  | MessageCreated
  | ContentDelta
  | MessageCompleted
  | MessageChanged
  | ContextChanged
  | SessionChanged
  | (ErrorTold & { readonly event: "Error" });

/** The server's no. */
export class ServerError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }

  get isTemporary(): boolean {
    return [429, 502, 503].includes(this.problem.status);
  }
}

const UNSAVED = new Set(["store_refused", "store_read_only", "store_unavailable"]);

/** The server cannot save: its disk is full, or its data folder is not writable. */
export function isUnsaved({ status, code }: Problem): boolean {
  return status === 507 || UNSAVED.has(code);
}

/** There was no answer: nobody knows whether it was done. */
export class Lost extends Error {}

/** What went wrong, as something that can be told. */
export function problemOfError(error: unknown): Problem {
  if (error instanceof ServerError) return error.problem;
  return { title: "", status: 0, code: error instanceof Lost ? "connection_lost" : "internal", detail: "" };
}
