/**
 * Mode switches in flight. Between the user's choice of a mode and the server's answer, no request may start or continue
 * a turn: the turn would run in the old mode.
 */
import type { Route } from "./http";
import { ServerError } from "./types";

/** `superseded`: a later choice replaced this one and decides the outcome. */
export type SwitchOutcome = "switched" | "stayed" | "superseded";

/** The problem code of a request that waited for a mode switch that failed. */
export const MODE_NOT_SWITCHED = "mode_not_switched";

export const SWITCH_ROUTE: Route = "PUT /api/contexts/{context_id}/mode";

/** The routes that start a turn, continue one, or change the content of the next turn. */
const TURN_ROUTES: ReadonlySet<Route> = new Set<Route>([
  "POST /api/contexts/{context_id}/messages",
  "POST /api/contexts/{context_id}/messages/{message_id}/edit",
  "PATCH /api/contexts/{context_id}/queue/{message_id}",
  "DELETE /api/contexts/{context_id}/queue/{message_id}",
  "POST /api/contexts/{context_id}/continue",
  "POST /api/contexts/{context_id}/resume",
  "POST /api/contexts/{context_id}/retry",
]);

export function startsTurn(route: Route): boolean {
  return TURN_ROUTES.has(route);
}

export class ModeSwitches {
  readonly #pending = new Map<string, Set<Promise<SwitchOutcome>>>();

  /** Registers a switch. Returns the function that ends it; only the first call counts. */
  begin(context: string): (outcome: SwitchOutcome) => void {
    let finish: (outcome: SwitchOutcome) => void = () => {};
    const pending = new Promise<SwitchOutcome>((resolve) => (finish = resolve));
    const all = this.#pending.get(context) ?? new Set();
    this.#pending.set(context, all.add(pending));
    return (outcome) => {
      all.delete(pending);
      if (all.size === 0 && this.#pending.get(context) === all) this.#pending.delete(context);
      finish(outcome);
    };
  }

  isPending(context: string): boolean {
    return this.#pending.has(context);
  }

  /**
   * Waits until no mode switch of this context is in flight.
   *
   * Throws ServerError if the last switch failed: the request would run in a mode that the user had just left.
   */
  async settled(context: string): Promise<void> {
    let last: SwitchOutcome = "switched";
    for (let all = this.#pending.get(context); all !== undefined; all = this.#pending.get(context)) {
      const outcomes = await Promise.all(all);
      last = outcomes.findLast((outcome) => outcome !== "superseded") ?? last;
    }
    if (last === "stayed") throw new ServerError({ title: "", status: 409, code: MODE_NOT_SWITCHED, detail: "" });
  }
}
