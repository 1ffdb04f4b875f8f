/** The remaining calls or time of an elevation. */
import type { Elevation } from "../../api/schema";

export type RemainingElevation =
  | { readonly kind: "calls"; readonly n: number }
  | { readonly kind: "turn" }
  | { readonly kind: "time"; readonly clock: string }
  | null;

/** Null once the time is over, even if the server has not ended the elevation yet. */
export function remainingElevation(elevation: Elevation, now: number): RemainingElevation {
  if (elevation.calls_left != null) return elevation.calls_left > 0 ? { kind: "calls", n: elevation.calls_left } : null;
  if (elevation.until == null) return { kind: "turn" };
  const seconds = Math.ceil((new Date(elevation.until).getTime() - now) / 1_000);
  return seconds > 0 ? { kind: "time", clock: countdownText(seconds) } : null;
}

/** Formats seconds as "9:05" or "1:02:30". */
export function countdownText(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
