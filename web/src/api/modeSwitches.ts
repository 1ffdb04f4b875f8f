/**
 * Switches of the mode that are under way. Between the moment at which a person chooses a mode and the server's answer,
 * nothing may start a turn or go on with one: it would run in the mode before.
 */
import type { Route } from "./http";
import { ServerError } from "./types";

/** `superseded`: another choice has taken the place of this one, and decides. */
export type SwitchOutcome = "switched" | "stayed" | "superseded";

/** The code of the refusal of a request whose mode did not come about. */
export const MODE_NOT_SWITCHED = "mode_not_switched";

export const SWITCH: Route = "PUT /api/contexts/{context_id}/mode";

/** The requests that start a turn, go on with one, or change what the next turn is about. */
const STARTING: ReadonlySet<Route> = new Set<Route>([
  "POST /api/contexts/{context_id}/messages",
  "POST /api/contexts/{context_id}/messages/{message_id}/edit",
  "PATCH /api/contexts/{context_id}/queue/{message_id}",
  "DELETE /api/contexts/{context_id}/queue/{message_id}",
  "POST /api/contexts/{context_id}/continue",
  "POST /api/contexts/{context_id}/resume",
  "POST /api/contexts/{context_id}/retry",
]);

export function isStarting(route: Route): boolean {
  return STARTING.has(route);
}

export class ModeSwitches {
  readonly #pending = new Map<string, Set<Promise<SwitchOutcome>>>();

  /** A switch of this context begins. Gives what ends it; only the first end counts. */
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

  isUnderWay(context: string): boolean {
    return this.#pending.has(context);
  }

  /**
   * Until no switch of this context is under way.
   *
   * Throws: ServerError where the last choice did not come about. The person chose another mode than the one in which the
   * request would run.
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
