/**
 * Emphasis beside Chinese, Japanese and Korean text. CommonMark lets `**` open or close depending on the spaces and
 * punctuation around it, and such text has no spaces: `**注意：**请看` would remain unformatted. So full-width punctuation
 * counts as a letter here, and a CJK letter beside `**` counts as if a space were there.
 */
import { Hooks, Lexer, type Rules } from "marked";

const LETTER = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Bopo}";
const MARK =
  "\\u3000-\\u303f\\u30fb\\ufe10-\\ufe1f\\ufe30-\\ufe4f\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65\\uffe0-\\uffee";
const PUNCTUATION = `(?![*~${MARK}])[\\p{P}\\p{S}]`;

const gfm = Lexer.rules.inline.gfm;

/** Marked's own rules, except for the characters right before and after an opening `*`. */
export const inlineRules: Rules["inline"] = {
  ...gfm,
  punctuation: new RegExp(`^(?:(?![*_])[\\s\\p{P}\\p{S}]|[${LETTER}${MARK}])`, "u"),
  emStrongLDelim: new RegExp(
    `^(?:\\*+(?:(${PUNCTUATION})|([^\\s*]))?)|^_+(?:((?!_)(?!~)[\\p{P}\\p{S}])|([^\\s_]))?`,
    "u",
  ),
};

const MARK_BESIDE = new RegExp(`[${MARK}](?=[*~])|(?<=[*~])[${MARK}]`, "gu");
const BEFORE_LETTER = new RegExp(`((?![*_~])[\\p{P}\\p{S}])([*~]+[${LETTER}])`, "gu");
const BEHIND_LETTER = new RegExp(`([${LETTER}][*~]+)((?![*_~])[\\p{P}\\p{S}])`, "gu");

/**
 * Adjusts the text in which marked looks for closing delimiters: characters that must not count as punctuation become
 * letters.
 */
export class CjkHooks extends Hooks {
  override emStrongMask(masked: string): string {
    return masked
      .replace(MARK_BESIDE, "文")
      .replace(BEFORE_LETTER, (_, sign: string, rest: string) => "文".repeat(sign.length) + rest)
      .replace(BEHIND_LETTER, (_, rest: string, sign: string) => rest + "文".repeat(sign.length));
  }
}
