/** Groups conversations by the local day of their last change. */
import type { Language } from "../../i18n/serverTexts";
import { dateFormat } from "../../ui/timeFormat";

export type Day = "today" | "yesterday" | "earlier";

export function dayOf(timestamp: string, now: Date): Day {
  const date = new Date(timestamp);
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (date >= midnight) return "today";
  midnight.setDate(midnight.getDate() - 1); // not 24 hours earlier: daylight saving time
  return date >= midnight ? "yesterday" : "earlier";
}

interface DayGroup<T> {
  readonly day: Day;
  readonly items: readonly T[];
}

/** Groups items, which must be sorted newest first, by day. No group is empty. */
export function groupByDay<T extends { readonly updated_at?: string }>(
  items: readonly T[],
  now: Date,
): readonly DayGroup<T>[] {
  const groups: { day: Day; items: T[] }[] = [];
  for (const item of items) {
    const day = dayOf(item.updated_at ?? "", now);
    const last = groups.at(-1);
    if (last?.day === day) last.items.push(item);
    else groups.push({ day, items: [item] });
  }
  return groups;
}

/** The time of day if the group's heading names the day, else the date. */
export function shortTime(timestamp: string, language: Language, now: Date): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return "";
  const year = date.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  const parts =
    dayOf(timestamp, now) === "earlier"
      ? ({ month: "short", day: "numeric", ...year } as const)
      : ({ hour: "2-digit", minute: "2-digit" } as const);
  return dateFormat(language, parts).format(date);
}
