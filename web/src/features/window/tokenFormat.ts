/** Numbers of tokens as people read them. */

/** 950, 1.2k, 124k, 1.5M: never more than four signs. */
export function compactCount(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_500) return `${short(count / 1_000)}k`;
  return `${short(count / 1_000_000)}M`;
}

function short(number: number): string {
  return number < 9.95 ? number.toFixed(1).replace(".0", "") : String(Math.round(number));
}

/** Whole percents. Something is never shown as nothing, and what is not full never as full. */
export function percent(part: number, whole: number): number {
  if (whole <= 0) return 0;
  const exact = (part / whole) * 100;
  if (exact > 0 && exact < 1) return 1;
  return exact < 100 ? Math.min(99, Math.round(exact)) : Math.round(exact);
}

/** Enough digits to tell that it is not nothing. */
export function costText(cost: number): string {
  if (cost === 0) return "0";
  return cost >= 1 ? cost.toFixed(2) : cost.toPrecision(2);
}

/** How near the end of the window is: from 60 % on it is worth a look, from 95 % on it is urgent. */
export function urgency(percentUsed: number): "calm" | "filling" | "full" {
  return percentUsed >= 95 ? "full" : percentUsed >= 60 ? "filling" : "calm";
}
