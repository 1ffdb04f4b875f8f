/** Formats times in the user's language and locale. */
import type { Language } from "../i18n/serverTexts";
import { textsIn } from "../i18n/texts";

const BROWSER_LANGUAGES: readonly string[] = typeof navigator === "undefined" ? [] : navigator.languages;

/**
 * Browsers put narrow and no-break spaces into times. These are normalized, because odd blanks mark deceptive text
 * here.
 */
const NONSTANDARD_BLANKS = /[\u00a0\u2009\u202f]/g;

/** The browser's regional variant of the language, if it has one; never a different language. */
export function localeOf(language: Language, browserLanguages: readonly string[] = BROWSER_LANGUAGES): string {
  return browserLanguages.find((each) => each.split("-")[0] === language) ?? language;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached, because creating a format is slow and lists need the same one many times. */
export function dateFormat(language: Language, parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${JSON.stringify(parts)}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(localeOf(language), parts);
  formats.set(key, format);
  return format;
}

/** The time of day, with the date unless that is today. */
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
    .replace(NONSTANDARD_BLANKS, " ");
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** The approximate time since a timestamp. */
export function relativeTime(timestamp: string, language: Language, now = Date.now()): string {
  const seconds = (now - new Date(timestamp).getTime()) / 1000;
  if (Number.isNaN(seconds)) return "";
  const format = new Intl.RelativeTimeFormat(localeOf(language), { numeric: "auto", style: "narrow" });
  if (seconds > 7 * 86_400) return timeOf(timestamp, language).replace(/,? ?\d\d:\d\d.*$/, "");
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ["minute", 60];
  const words = seconds < 60 ? textsIn(language, "times")("justNow") : format.format(-Math.floor(seconds / size), unit);
  return words.replace(NONSTANDARD_BLANKS, " ");
}
