/** The last chosen mode in local storage, the mode to show, and the calls to confirm before a switch. */
import type { CallView, ContextView, ModeView } from "../../api/schema";

export const MODE_STORAGE_KEY = "ai-chat-mode";

interface StoredMode {
  readonly mode: string;
  readonly updatedAt: number;
}

/**
 * Parses the stored mode; null if there is none, the mode no longer exists, or the value is invalid. While the modes
 * are unknown (null), the stored mode counts: a late response must not loosen a stricter mode.
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

/** The server's default mode for new conversations; null until it is known. */
export function defaultMode(modes: readonly Pick<ModeView, "name" | "is_default">[]): string | null {
  return modes.find((mode) => mode.is_default)?.name ?? null;
}

/** The mode that the selector shows: that of the open context, else the last chosen mode, else the server's default. */
export function effectiveMode(
  context: Pick<ContextView, "mode"> | null,
  stored: StoredMode | null,
  serverDefault: string | null,
): string | null {
  return context?.mode ?? stored?.mode ?? serverDefault;
}

/**
 * The pending calls that a switch would start at once and that are dangerous or unread (`read` contains the digests of
 * read calls). Empty if the user has confirmed all of them.
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
