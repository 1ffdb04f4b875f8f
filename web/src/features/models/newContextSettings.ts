/** Model and persona of a new conversation, sent when the conversation is created. */
import type { NewContext } from "../../api/schema";
import { createAtom, useAtom } from "../../app/atom";

interface NewContextSettings {
  /** Null selects the preferred model, or the default model if there is none. */
  readonly model: string | null;
  readonly persona: string | null;
}

const DEFAULTS: NewContextSettings = { model: null, persona: null };
const settings = createAtom<NewContextSettings>(DEFAULTS);

export function useNewContextSettings(): NewContextSettings {
  return useAtom(settings);
}

export function changeNewContextSettings(change: Partial<NewContextSettings>): void {
  settings.set({ ...settings.getSnapshot(), ...change });
}

/** The fields for the request that creates a conversation. */
export function newContextFields(): Pick<NewContext, "model" | "persona"> {
  const { model, persona } = settings.getSnapshot();
  return { ...(model === null ? {} : { model }), ...(persona === null ? {} : { persona }) };
}

/** Resets the settings after the conversation was created. */
export function resetNewContextSettings(): void {
  settings.set(DEFAULTS);
}
