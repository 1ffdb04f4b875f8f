/** Model and persona of the conversation that is about to begin. The box takes them along when it makes one. */
import type { NewContext } from "../../api/schema";
import { makeCell, useCell } from "../../app/cell";

export interface Chosen {
  /** Null is the one that the person prefers, else the usual one. */
  readonly model: string | null;
  readonly persona: string | null;
}

const NOTHING: Chosen = { model: null, persona: null };
const cell = makeCell<Chosen>(NOTHING);

export function useChosen(): Chosen {
  return useCell(cell);
}

export function choose(change: Partial<Chosen>): void {
  cell.set({ ...cell.getSnapshot(), ...change });
}

/** What a request for a new conversation says of them: `{ body: { mode, ...newContext() } }`. */
export function newContext(): Pick<NewContext, "model" | "persona"> {
  const { model, persona } = cell.getSnapshot();
  return { ...(model === null ? {} : { model }), ...(persona === null ? {} : { persona }) };
}

/** It was made: the next one begins as usual. */
export function forgetChosen(): void {
  cell.set(NOTHING);
}
