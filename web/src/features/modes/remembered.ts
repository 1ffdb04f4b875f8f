/** Which mode the page proposes, what it remembers of it, and which switches it asks about first. */
import type { CallShape, ContextShape, ModeShape, Preferences } from "../../api/schema";

export const MODE_KEY = "ai-chat-mode";
export const DEFAULT_MODE = "agent";

export interface RememberedMode {
  readonly mode: string;
  readonly updatedAt: number;
}

/** What local storage holds; null where that is nothing, no longer a mode, or cannot be read. */
export function readMode(stored: string | null, modes: readonly Pick<ModeShape, "name">[]): RememberedMode | null {
  try {
    const found = JSON.parse(stored ?? "null") as Partial<RememberedMode> | null;
    if (typeof found?.mode !== "string" || !modes.some((mode) => mode.name === found.mode)) return null;
    return { mode: found.mode, updatedAt: Number.isFinite(found.updatedAt) ? Number(found.updatedAt) : 0 };
  } catch {
    return null;
  }
}

export function writeMode(mode: string, now: number): string {
  return JSON.stringify({ mode, updatedAt: now } satisfies RememberedMode);
}

/** The mode that the selector shows: an open context's own, else what was chosen here last, else the preference. */
export function modeToShow(
  context: Pick<ContextShape, "mode"> | null,
  remembered: RememberedMode | null,
  preferences: Pick<Preferences, "default_mode"> | null,
): string {
  return context?.mode ?? remembered?.mode ?? preferences?.default_mode ?? DEFAULT_MODE;
}

/** The dangerous calls that a switch would start at once. If there are any, the person is asked first. */
export function callsToConfirm(wouldStart: readonly CallShape[]): readonly CallShape[] {
  return wouldStart.filter((call) => (call.dangerous ?? []).length > 0);
}
