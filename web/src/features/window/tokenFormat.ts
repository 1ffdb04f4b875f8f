/** Formats token counts and costs. */

/** Formats a count with at most four characters: 950, 1.2k, 124k, 1.5M. */
export function compactCount(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_500) return `${short(count / 1_000)}k`;
  return `${short(count / 1_000_000)}M`;
}

function short(number: number): string {
  return number < 9.95 ? number.toFixed(1).replace(".0", "") : String(Math.round(number));
}

/** The rounded percentage. A small share is never shown as 0 %, an incomplete one never as 100 %. */
export function percent(part: number, whole: number): number {
  if (whole <= 0) return 0;
  const exact = (part / whole) * 100;
  if (exact > 0 && exact < 1) return 1;
  return exact < 100 ? Math.min(99, Math.round(exact)) : Math.round(exact);
}

/** Formats a cost with enough digits to distinguish it from zero. */
export function costText(cost: number): string {
  if (cost === 0) return "0";
  return cost >= 1 ? cost.toFixed(2) : cost.toPrecision(2);
}

/** How close the window is to its limit: `filling` from 60 %, `full` from 95 %. */
export function urgency(percentUsed: number): "calm" | "filling" | "full" {
  return percentUsed >= 95 ? "full" : percentUsed >= 60 ? "filling" : "calm";
}
