/** The events of the store: one closed union. */
import type { BranchView, ContextView, Delta, Problem, Session } from "../api/schema";
import type { Message, Signal } from "../api/types";
import type { Answer, Command } from "./commands";
import type { Tick } from "./state";

/** A request for missing data. */
export type Pull =
  | { readonly kind: "session" }
  | { readonly kind: "context"; readonly id: string }
  | { readonly kind: "messages"; readonly id: string; readonly ids: readonly string[] }
  | { readonly kind: "older"; readonly id: string; readonly branch: string; readonly before: number }
  | { readonly kind: "text"; readonly id: string; readonly message: string; readonly from: number };

interface PullAnswers {
  session: Session;
  context: ContextView;
  messages: readonly Message[];
  older: BranchView;
  text: readonly Delta[];
}

/** The response to a pull. `requestedAt` is the tick of the request. */
export type PullResponse = {
  [Kind in Pull["kind"]]: {
    readonly type: "answered";
    readonly kind: Kind;
    readonly requestedAt: Tick;
    readonly pull: Extract<Pull, { kind: Kind }>;
    readonly answer: PullAnswers[Kind];
  };
}[Pull["kind"]];

export type StoreEvent =
  | { readonly type: "signal"; readonly signal: Signal }
  | PullResponse
  | { readonly type: "failed"; readonly pull: Pull; readonly requestedAt: Tick; readonly problem: Problem }
  | { readonly type: "sent"; readonly key: string; readonly command: Command }
  | { readonly type: "acknowledged"; readonly key: string; readonly requestedAt: Tick; readonly answer: Answer }
  | { readonly type: "refused"; readonly key: string; readonly problem: Problem }
  | { readonly type: "dismissed"; readonly key: string }
  | { readonly type: "older"; readonly id: string }
  | { readonly type: "up" }
  | { readonly type: "down" }
  | { readonly type: "locked_out"; readonly problem: Problem }
  | { readonly type: "clock" };

/** An event with its time in milliseconds. */
export type TimedEvent = StoreEvent & { readonly at: number };
