/** Times as people read them, in their language and place. */
import type { Language } from "../i18n/say";
import { textsIn } from "../i18n/texts";

const BROWSER_LANGUAGES: readonly string[] = typeof navigator === "undefined" ? [] : navigator.languages;

/** Browsers put narrow and no-break spaces into times. Here a blank that is no space is the sign of a deception. */
const ODD_BLANKS = /[\u00a0\u2009\u202f]/g;

/** Their own kind of the language, where the browser knows one; never another language than the page's. */
export function localeOf(language: Language, browserLanguages: readonly string[] = BROWSER_LANGUAGES): string {
  return browserLanguages.find((each) => each.split("-")[0] === language) ?? language;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** To make a format takes long, and lists need many times the same one. */
export function dateFormat(language: Language, parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${JSON.stringify(parts)}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(localeOf(language), parts);
  formats.set(key, format);
  return format;
}

/** The time of day; with the date where that is not today. */
export function timeOf(timestamp: string, language: Language, now = new Date()): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = date.toDateString() === now.toDateString();
  const day = isToday
    ? {}
    : ({
        month: "short",
        day: "numeric",
        ...(date.getFullYear() === now.getFullYear() ? {} : { year: "numeric" }),
      } as const);
  return dateFormat(language, { ...day, hour: "2-digit", minute: "2-digit" })
    .format(date)
    .replace(ODD_BLANKS, " ");
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** How long ago, roughly. */
export function relativeTime(timestamp: string, language: Language, now = Date.now()): string {
  const seconds = (now - new Date(timestamp).getTime()) / 1000;
  if (Number.isNaN(seconds)) return "";
  const format = new Intl.RelativeTimeFormat(localeOf(language), { numeric: "auto", style: "narrow" });
  if (seconds > 7 * 86_400) return timeOf(timestamp, language).replace(/,? ?\d\d:\d\d.*$/, "");
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ["minute", 60];
  const words = seconds < 60 ? textsIn(language, "times")("justNow") : format.format(-Math.floor(seconds / size), unit);
  return words.replace(ODD_BLANKS, " ");
}
