/** Model and persona of the conversation that is about to begin. The box takes them along when it makes one. */
import type { NewContext } from "../../api/schema";
import { makeCell, useCell } from "../../app/cell";
import { useSlice } from "../../app/page";
import { useModels } from "./useModels";

export interface Chosen {
  /** Null is the usual one. */
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

/** What a request for a new conversation says of them: `{ body: { mode, ...useNewContext() } }`. */
export function useNewContext(): Pick<NewContext, "model" | "persona"> {
  const { model, persona } = useChosen();
  const preferred = useSlice((state) => state.session.value?.preferences?.default_model ?? null);
  const models = useModels();
  const named = models.find((each) => each.name === (model ?? preferred))?.name ?? null; // one may be gone by now
  return { ...(named === null ? {} : { model: named }), ...(persona === null ? {} : { persona }) };
}

/** It was made: the next one begins as usual. */
export function forgetChosen(): void {
  cell.set(NOTHING);
}
