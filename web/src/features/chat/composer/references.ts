/**
 * File references in a text: `@src/app.py`, `@src/app.py:10-40`, `@"my file.txt":10`. A quoted path is encoded as in
 * JSON. `parseReferences` reads everything that `formatReference` writes.
 */
import type { FileReferencePayload } from "../../../api/schema";
import { visibleText } from "../../../ui/safeText";

export interface Reference {
  readonly path: string;
  /** Null for the whole file. */
  readonly lines: { readonly from: number; readonly to: number } | null;
  /** Offset in the text. */
  readonly start: number;
  readonly end: number;
}

/** Characters that end an unquoted path: blanks and punctuation, including Chinese punctuation. */
const TERMINATORS = '\\s"`,;，。；：！？、（）【】《》「」『』“”‘’';
/** An `@` after a letter or digit is part of an email address. */
const REFERENCE = new RegExp(
  String.raw`(?<![\w.+-])@(?:("(?:[^"\\\n]|\\.)*")(?::([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?(?!\d))?|([^${TERMINATORS}]+))`,
  "gu",
);
const UNFINISHED_REFERENCE = new RegExp(String.raw`(?<![\w.+-])@(?:"([^"\n]*)|([^${TERMINATORS}]*))$`, "u");
const TRAILING = /[.:!?)\]}>'*]+$/;
const LINES = /^(.+):([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?$/s;

/** All references in a text, in order. Only the server knows which of the files exist. */
export function parseReferences(text: string): readonly Reference[] {
  return [...text.matchAll(REFERENCE)].flatMap((match) => {
    const [matched, quoted, from, to, plain] = match;
    if (plain !== undefined) return plainReference(plain, match.index);
    const path = unquoted(quoted ?? "");
    const lines = linesOf(from, to);
    if (path === "") return [];
    const isRange = from !== undefined && lines !== null;
    const end = match.index + (isRange ? matched.length : 1 + (quoted?.length ?? 0));
    return [{ path, lines, start: match.index, end }];
  });
}

function plainReference(source: string, start: number): readonly Reference[] {
  const text = source.replace(TRAILING, "");
  if (text === "") return [];
  const [, path = text, from, to] = LINES.exec(text) ?? [];
  const lines = linesOf(from, to);
  return [{ path: lines === null ? text : path, lines, start, end: start + 1 + text.length }];
}

function linesOf(from: string | undefined, to: string | undefined): Reference["lines"] {
  if (from === undefined || Number(to ?? from) < Number(from)) return null;
  return { from: Number(from), to: Number(to ?? from) };
}

function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return "";
  }
}

/** Formats a reference. A path that would be parsed differently or has hidden characters is quoted. */
export function formatReference(path: string, lines: Reference["lines"] = null): string {
  const plain = `@${path}`;
  const [parsed] = parseReferences(plain);
  const isPlain =
    parsed?.path === path && parsed.lines === null && parsed.end === plain.length && visibleText(path) === path;
  const range = lines === null ? "" : `:${lines.from}${lines.to === lines.from ? "" : `-${lines.to}`}`;
  return (isPlain ? plain : `@${quotedPath(path)}`) + range;
}

function quotedPath(path: string): string {
  const hidden = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const escaped = [...JSON.stringify(path)].map((each) =>
    visibleText(each) === each ? each : each.split("").map(hidden).join(""),
  );
  return escaped.join("");
}

/**
 * The unfinished reference at the caret: `start` is the offset of the `@`, `query` the text after it. Null inside a
 * line range.
 */
export function referenceAt(text: string, caret: number): { readonly start: number; readonly query: string } | null {
  const textBefore = text.slice(0, caret);
  const match = UNFINISHED_REFERENCE.exec(textBefore);
  const query = match?.[1] ?? match?.[2] ?? "";
  return match === null || /.:[\d-]*$/.test(query) ? null : { start: match.index, query };
}

export function payloadOf({ path, lines }: Pick<Reference, "path" | "lines">): FileReferencePayload {
  return {
    type: "file_reference",
    path,
    ...(lines === null ? {} : { range: { start_line: lines.from, end_line: lines.to } }),
  };
}

/** Removes repeated references to the same file and lines. */
export function uniqueReferences(references: readonly Reference[]): readonly Reference[] {
  return [...new Map(references.map((each) => [formatReference(each.path, each.lines), each])).values()];
}
