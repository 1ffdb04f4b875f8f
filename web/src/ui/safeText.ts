/**
 * Makes text from models, tools and servers safe to display: hidden characters are written out, and names cannot pose
 * as other names.
 */

/** Control, format, private-use and unassigned characters, line separators, and all other invisible characters. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}\u{16fe4}]/u;
/** Blanks that look like a space but do not separate words in a shell. */
const NONSTANDARD_BLANK = /[^\P{Zs} ]/u;
const HIDDEN_RUNS = new RegExp(`(?![\\n\\t])(${HIDDEN.source})\\1*`, "gu");
const HIDDEN_OR_BLANK_RUNS = new RegExp(`(?![\\n\\t])(${HIDDEN.source}|${NONSTANDARD_BLANK.source})\\1*`, "gu");
const PLAIN = /^[\t\n\x20-\x7e]*$/;
/** Symbols that can be rendered as emoji. ASCII symbols are excluded. */
const SYMBOL = /(?!\p{ASCII})[\p{So}\p{Sm}\u203c\u2049\u3030\u303d]/u;
const SKIN_TONE = /[\u{1f3fb}-\u{1f3ff}]/u;
const LETTER_OR_MARK = /[\p{L}\p{M}]/u;
const ARABIC = /\p{Script=Arabic}/u;
/** Marks that join Indic consonants (viramas). */
const VIRAMA =
  /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a\u1714\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3]/u;
/** Letters of scripts without spaces between words, in which a zero width space marks a possible line break. */
const WITHOUT_SPACES = /(?=[\p{L}\p{M}])[\p{Script=Khmer}\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}]/u;
const IDEOGRAPH_SELECTOR = /[\u{e0100}-\u{e01ef}]/u;
const BLACK_FLAG = "\u{1f3f4}";
/** The flags encoded with tag characters: England, Scotland, Wales. */
const FLAGS = ["gbeng", "gbsct", "gbwls"].map(
  (region) =>
    BLACK_FLAG + String.fromCodePoint(...[...region].map((letter) => 0xe0000 + letter.charCodeAt(0)), 0xe007f),
);
const FLAG_CODE_UNITS = 14;
const MAX_NAME_CHARACTERS = 80;
/** A longer run of the same hidden character is written once, with its length. */
const MAX_RUN_CHARACTERS = 8;

/** Writes each hidden or reordering character as `⟨U+202E⟩`. Line ends and tabs stay. */
export function visibleText(text: string): string {
  return PLAIN.test(text) ? text : text.replace(HIDDEN_RUNS, escapeRun);
}

/**
 * Like `visibleText`, but also writes out blanks other than space, tab and line end: for text that the user approves.
 */
export function exactText(text: string): string {
  return PLAIN.test(text) ? text : text.replace(HIDDEN_OR_BLANK_RUNS, escapeRun);
}

/** Appends the code point to each of the given characters: `с⟨U+0441⟩`. */
export function annotateWithCodes(text: string, characters: string): string {
  if (characters === "" || PLAIN.test(text)) return text;
  const annotated = new Set(characters);
  return [...text]
    .map((each, index, all) => {
      const isUnchanged =
        !annotated.has(each) ||
        all
          .slice(index + 1, index + 10)
          .join("")
          .startsWith(codeOf(each));
      return isUnchanged ? each : each + codeOf(each);
    })
    .join("");
}

/** Letters of scripts that share shapes with Latin letters, and Latin letters that belong to no alphabet. */
const LIKE_LATIN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\u0250-\u02af\u1d00-\u1dbf\ua720-\ua7ff\uab30-\uab6f]/u;
const LIKE_SLASH_OR_DOT = /[\u2024\u2044\u2215\u2216\u2571\u29f5\u29f8\ufe52\ufe68\uff0e\uff0f\uff3c]/u;
const WORD = /[\p{L}\p{M}]+/gu;
const ORDINALS = "ªº";

/**
 * The characters of a name that can be mistaken for ASCII characters: full-width and mathematical letters, letters of
 * another script in a word with ASCII letters, marks that look like slashes and dots. (For the text of a call, the
 * server finds more of them.)
 */
function lookalikesIn(name: string): string {
  if (PLAIN.test(name)) return "";
  const letters = (name.match(WORD) ?? []).flatMap((word) =>
    [...word].filter((each) => isFolded(each) || (/[A-Za-z]/.test(word) && LIKE_LATIN.test(each))),
  );
  return [...letters, ...[...name].filter((each) => LIKE_SLASH_OR_DOT.test(each))].join("");
}

function isFolded(letter: string): boolean {
  return !PLAIN.test(letter) && !ORDINALS.includes(letter) && /^[A-Za-z]+$/.test(letter.normalize("NFKC"));
}

/** Leading, trailing and repeated blanks, line ends and tabs: two paths that differ in these look the same. */
const PATH_BLANKS = /^ +| +$| {2,}|[\n\t]/g;

/** A path on one line, with blanks and hidden characters that could be overlooked written out. */
export function exactPath(path: string): string {
  const blanks = path.replace(PATH_BLANKS, (run) => [...run].map(codeOf).join(""));
  return exactText(blanks);
}

/** A complete name on one line, with hidden and lookalike characters written out. */
export function exactName(name: string): string {
  return annotateWithCodes(exactPath(name), lookalikesIn(name));
}

function codeOf(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function escapeRun(run: string, character: string, offset: number, text: string): string {
  if (run === character && hasProperUse(text, offset)) return run;
  const code = codeOf(character);
  const count = run.length / character.length;
  return count <= MAX_RUN_CHARACTERS ? code.repeat(count) : code.replace("⟩", ` ×${count}⟩`);
}

/**
 * Whether a hidden character is legitimate at this position: it joins or varies emoji, selects a variant of an
 * ideograph, shapes Persian or Indic words, or separates words of a script without spaces. The server applies the same
 * rules.
 */
function hasProperUse(text: string, offset: number): boolean {
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 0);
  const before = characterBefore(text, offset);
  const next = text.codePointAt(offset + character.length);
  const after = next === undefined ? "" : String.fromCodePoint(next);
  if (before === "") return false;
  if (character === "\ufe0e" || character === "\ufe0f")
    return SYMBOL.test(before) || (after === "\u20e3" && /[0-9#*]/.test(before));
  if (character === "\u200d" && SYMBOL.test(after))
    return SYMBOL.test(before) || before === "\ufe0f" || SKIN_TONE.test(before);
  if (character === "\u200d" || character === "\u200c")
    return isIndicJoiner(text, offset, before, after) || isArabicJoiner(character, before, after);
  if (character === "\u200b") return WITHOUT_SPACES.test(before) && WITHOUT_SPACES.test(after);
  if (IDEOGRAPH_SELECTOR.test(character)) return /\p{Script=Han}/u.test(before);
  return isInFlag(text, offset);
}

/** A joiner is legitimate beside a virama that follows a letter of its script. */
function isIndicJoiner(text: string, offset: number, before: string, after: string): boolean {
  const letter = VIRAMA.test(before) ? characterBefore(text, offset - before.length) : VIRAMA.test(after) ? before : "";
  return /(?!\p{ASCII})[\p{L}\p{M}]/u.test(letter);
}

/** A non-joiner separates letters that would be joined; a joiner is legitimate only before a space. */
function isArabicJoiner(character: string, before: string, after: string): boolean {
  return isArabic(before) && (character === "\u200c" ? isArabic(after) : /^\s$/.test(after));
}

function isInFlag(text: string, offset: number): boolean {
  const first = Math.max(0, offset - FLAG_CODE_UNITS);
  const start = first + text.slice(first, offset).lastIndexOf(BLACK_FLAG);
  return FLAGS.includes(text.slice(start, start + FLAG_CODE_UNITS)) && offset - start < FLAG_CODE_UNITS;
}

function characterBefore(text: string, offset: number): string {
  const last = text.charCodeAt(offset - 1);
  return text.slice(Math.max(0, offset - (last >= 0xdc00 && last < 0xe000 ? 2 : 1)), offset);
}

const isArabic = (character: string) => LETTER_OR_MARK.test(character) && ARABIC.test(character);

/** Like `exactName`, cut to a displayable length. */
export function visibleName(name: string): string {
  return truncate(exactName(name));
}

/** The beginning of a text on one line, with blanks and line ends collapsed: for titles and descriptions. */
export function visibleLine(text: string): string {
  return truncate(exactText(text).replace(/\s+/g, " ").trim());
}

function truncate(line: string): string {
  const letters = [...line];
  return letters.length <= MAX_NAME_CHARACTERS ? line : `${letters.slice(0, MAX_NAME_CHARACTERS - 1).join("")}…`;
}

/** The displayed name of a tool. A tool of an MCP server is prefixed with the server's name. */
export function toolName(call: { readonly tool: string; readonly display_name: string }): string {
  const cut = call.tool.indexOf("__");
  if (cut <= 0 || cut + 2 >= call.tool.length) return visibleName(call.display_name || call.tool);
  return visibleName(`${call.tool.slice(0, cut)} · ${titleCase(call.tool.slice(cut + 2))}`);
}

/**
 * Converts `list_open-issues` to "List Open Issues". The server's own display name includes the name of the MCP server.
 */
function titleCase(name: string): string {
  if (!/^[\w.-]+$/.test(name)) return name; // splitting would drop letters outside of ASCII
  const words = name.match(/[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+|[^\W\d_]+/gu) ?? [name];
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(" ");
}
