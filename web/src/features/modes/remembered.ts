/** Which mode the page proposes, what it remembers of it, and which switches it asks about first. */
import type { CallShape, ContextShape, ModeShape } from "../../api/schema";

export const MODE_KEY = "ai-chat-mode";

export interface RememberedMode {
  readonly mode: string;
  readonly updatedAt: number;
}

/**
 * What local storage holds; null where that is nothing, no longer a mode, or cannot be read. While the modes are not
 * known (null), it counts: a stricter mode must not give way to a looser one because an answer is late.
 */
export function readMode(
  stored: string | null,
  modes: readonly Pick<ModeShape, "name">[] | null,
): RememberedMode | null {
  try {
    const found = JSON.parse(stored ?? "null") as Partial<RememberedMode> | null;
    if (typeof found?.mode !== "string" || modes?.some((mode) => mode.name === found.mode) === false) return null;
    return { mode: found.mode, updatedAt: Number.isFinite(found.updatedAt) ? Number(found.updatedAt) : 0 };
  } catch {
    return null;
  }
}

export function writeMode(mode: string, now: number): string {
  return JSON.stringify({ mode, updatedAt: now } satisfies RememberedMode);
}

/** The mode that the server gives a conversation for which the person chose none; null until it is known. */
export function defaultMode(modes: readonly Pick<ModeShape, "name" | "is_default">[]): string | null {
  return modes.find((mode) => mode.is_default)?.name ?? null;
}

/** The mode that the selector shows: an open context's own, else what was chosen here last, else the server's default. */
export function modeToShow(
  context: Pick<ContextShape, "mode"> | null,
  remembered: RememberedMode | null,
  serverDefault: string | null,
): string | null {
  return context?.mode ?? remembered?.mode ?? serverDefault;
}

/**
 * The waiting calls that a switch would start at once, and that are dangerous or were not read on this screen (`read`, by
 * digest). None, where the person was shown all of them (`confirmed`) and said yes.
 */
export function callsToConfirm(
  wouldStart: readonly CallShape[],
  read: ReadonlySet<string>,
  confirmed: readonly CallShape[] = [],
): readonly CallShape[] {
  const asked = wouldStart.filter(
    (call) => call.status === "pending" && (!read.has(call.digest) || (call.dangerous ?? []).length > 0),
  );
  const isConfirmed = (call: CallShape) => confirmed.some(({ id, digest }) => id === call.id && digest === call.digest);
  return asked.every(isConfirmed) ? [] : asked;
}
