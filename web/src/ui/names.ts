/** Text from models, tools and servers, made safe to read: nothing in it is hidden, and names are words. */

/** Control, format, private and unassigned characters, separators of lines, and all that shows nothing by itself. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Blanks that look like a space and are none: a shell does not divide words there. */
const ODD_BLANK = /[^\P{Zs} ]/u;
const RUNS_OF_HIDDEN = new RegExp(`(?![\\n\\t])(${HIDDEN.source})\\1*`, "gu");
const RUNS_OF_EXACT = new RegExp(`(?![\\n\\t])(${HIDDEN.source}|${ODD_BLANK.source})\\1*`, "gu");
const PLAIN = /^[\t\n\x20-\x7e]*$/;
/** What may be drawn as an emoji: signs of the shell are symbols, too, but never that. */
const SYMBOL = /(?!\p{ASCII})[\p{So}\p{Sm}\u203c\u2049\u3030\u303d]/u;
const SKIN_TONE = /[\u{1f3fb}-\u{1f3ff}]/u;
const LETTER_OR_MARK = /[\p{L}\p{M}]/u;
const ARABIC = /\p{Script=Arabic}/u;
/** Signs that join Indic consonants. */
const VIRAMA =
  /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a\u1714\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3]/u;
const AT_MOST = 80;
/** A longer run of one hidden character is written once, with its length. */
export const LONGEST_RUN = 8;

/** The whole text, with each character that hides or turns something written as `⟨U+202E⟩`. Lines and tabs stay. */
export function visibleText(text: string): string {
  return PLAIN.test(text) ? text : text.replace(RUNS_OF_HIDDEN, writtenOut);
}

/** Like `visibleText`, with every blank but space, tab and line end written out as well: for what is approved. */
export function exactText(text: string): string {
  return PLAIN.test(text) ? text : text.replace(RUNS_OF_EXACT, writtenOut);
}

function writtenOut(run: string, one: string, offset: number, text: string): string {
  if (run === one && isInPlace(text, offset)) return run;
  const code = `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const count = run.length / one.length;
  return count <= LONGEST_RUN ? `⟨${code}⟩`.repeat(count) : `⟨${code} ×${count}⟩`;
}

/** Whether a hidden character has its proper use there: it joins emoji, or shapes Persian or Indic words. */
function isInPlace(text: string, offset: number): boolean {
  const character = text[offset];
  const before = characterBefore(text, offset);
  const after = String.fromCodePoint(text.codePointAt(offset + 1) ?? 0);
  if (before === "") return false;
  if (character === "\ufe0e" || character === "\ufe0f") return SYMBOL.test(before) || after === "\u20e3";
  if (character === "\u200d" && SYMBOL.test(after))
    return SYMBOL.test(before) || before === "\ufe0f" || SKIN_TONE.test(before);
  if (character !== "\u200d" && character !== "\u200c") return false;
  return VIRAMA.test(before) || VIRAMA.test(after) || (isArabic(before) && isArabic(after));
}

function characterBefore(text: string, offset: number): string {
  const last = text.charCodeAt(offset - 1);
  return text.slice(Math.max(0, offset - (last >= 0xdc00 && last < 0xe000 ? 2 : 1)), offset);
}

const isArabic = (character: string) => LETTER_OR_MARK.test(character) && ARABIC.test(character);

/** A name on one line, and not longer than one can read. */
export function visibleName(name: string): string {
  const line = visibleText(name).replace(/\s+/g, " ").trim();
  const letters = [...line];
  return letters.length <= AT_MOST ? line : `${letters.slice(0, AT_MOST - 1).join("")}…`;
}

/** How a tool is called for a person. One of a server's stands behind the server's name. */
export function toolName(call: { readonly tool: string; readonly display_name: string }): string {
  const cut = call.tool.indexOf("__");
  if (cut <= 0 || cut + 2 >= call.tool.length) return visibleName(call.display_name || call.tool);
  return visibleName(`${call.tool.slice(0, cut)} · ${asWords(call.tool.slice(cut + 2))}`);
}

/** `list_open-issues` is "List Open Issues". The server says it better, but not without its own name before it. */
function asWords(name: string): string {
  const words = name.match(/[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+|[^\W\d_]+/gu) ?? [name];
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(" ");
}
