/** The last chosen mode in local storage, the mode to show, and the calls to confirm before a switch. */
import type { CallView, ContextView, ModeView } from "../../api/schema";

export const MODE_STORAGE_KEY = "ai-chat-mode";

export interface StoredMode {
  readonly mode: string;
  readonly updatedAt: number;
}

/**
 * What local storage holds; null where that is nothing, no longer a mode, or cannot be read. While the modes are not
 * known (null), it counts: a stricter mode must not give way to a looser one because an answer is late.
 */
export function parseStoredMode(
  stored: string | null,
  modes: readonly Pick<ModeView, "name">[] | null,
): StoredMode | null {
  try {
    const parsed = JSON.parse(stored ?? "null") as Partial<StoredMode> | null;
    if (typeof parsed?.mode !== "string" || modes?.some((mode) => mode.name === parsed.mode) === false) return null;
    return { mode: parsed.mode, updatedAt: Number.isFinite(parsed.updatedAt) ? Number(parsed.updatedAt) : 0 };
  } catch {
    return null;
  }
}

export function serializeMode(mode: string, now: number): string {
  return JSON.stringify({ mode, updatedAt: now } satisfies StoredMode);
}

/** The mode that the server gives a conversation for which the person chose none; null until it is known. */
export function defaultMode(modes: readonly Pick<ModeView, "name" | "is_default">[]): string | null {
  return modes.find((mode) => mode.is_default)?.name ?? null;
}

/** The mode that the selector shows: an open context's own, else what was chosen here last, else the server's default. */
export function effectiveMode(
  context: Pick<ContextView, "mode"> | null,
  stored: StoredMode | null,
  serverDefault: string | null,
): string | null {
  return context?.mode ?? stored?.mode ?? serverDefault;
}

/**
 * The waiting calls that a switch would start at once, and that are dangerous or were not read on this screen (`read`, by
 * digest). None, where the person was shown all of them (`confirmed`) and said yes.
 */
export function callsToConfirm(
  wouldStart: readonly CallView[],
  read: ReadonlySet<string>,
  confirmed: readonly CallView[] = [],
): readonly CallView[] {
  const candidates = wouldStart.filter(
    (call) => call.status === "pending" && (!read.has(call.digest) || (call.dangerous ?? []).length > 0),
  );
  const isConfirmed = (call: CallView) => confirmed.some(({ id, digest }) => id === call.id && digest === call.digest);
  return candidates.every(isConfirmed) ? [] : candidates;
}
