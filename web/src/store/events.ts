/** Everything that can happen to what the page knows: a closed union. */
import type { BranchShape, ContextShape, Delta, Problem, Session } from "../api/schema";
import type { Message, Signal } from "../api/types";
import type { Answer, Command } from "./commands";
import type { Tick } from "./state";

/** Something that is missing, and what to ask the server for to have it. */
export type Pull =
  | { readonly kind: "session" }
  | { readonly kind: "context"; readonly id: string }
  | { readonly kind: "messages"; readonly id: string; readonly ids: readonly string[] }
  | { readonly kind: "older"; readonly id: string; readonly branch: string; readonly before: number }
  | { readonly kind: "text"; readonly id: string; readonly message: string; readonly from: number };

export interface AnswerTo {
  session: Session;
  context: ContextShape;
  messages: readonly Message[];
  older: BranchShape;
  text: readonly Delta[];
}

/** `asked` is the tick at which it was asked. */
export type Answered = {
  [Kind in Pull["kind"]]: {
    readonly type: "answered";
    readonly kind: Kind;
    readonly asked: Tick;
    readonly pull: Extract<Pull, { kind: Kind }>;
    readonly answer: AnswerTo[Kind];
  };
}[Pull["kind"]];

export type Happening =
  | { readonly type: "signal"; readonly signal: Signal }
  | Answered
  | { readonly type: "failed"; readonly pull: Pull; readonly asked: Tick; readonly problem: Problem }
  | { readonly type: "sent"; readonly key: string; readonly command: Command }
  | { readonly type: "acknowledged"; readonly key: string; readonly asked: Tick; readonly answer: Answer }
  | { readonly type: "refused"; readonly key: string; readonly problem: Problem }
  | { readonly type: "dismissed"; readonly key: string }
  | { readonly type: "older"; readonly id: string }
  | { readonly type: "up" }
  | { readonly type: "down" }
  | { readonly type: "locked_out"; readonly problem: Problem }
  | { readonly type: "clock" };

/** `at` is when, in milliseconds. */
export type Event = Happening & { readonly at: number };
