/**
 * Files named in a text: `@src/app.py`, `@src/app.py:10-40`, `@"my file.txt":10`. In quotes a path is written as in JSON.
 * What is written by `format` is read by `parse`.
 */
import type { FileReferencePayload } from "../../../api/schema";
import { visibleText } from "../../../ui/safeText";

export interface Reference {
  readonly path: string;
  /** Null for the whole file. */
  readonly lines: { readonly from: number; readonly to: number } | null;
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
}

/** No part of an unquoted path: what ends it in a sentence, also in a Chinese one. */
const TERMINATORS = '\\s"`,;，。；：！？、（）【】《》「」『』“”‘’';
/** A sign behind a letter or digit is part of an address, not of a reference. */
const REFERENCE = new RegExp(
  String.raw`(?<![\w.+-])@(?:("(?:[^"\\\n]|\\.)*")(?::([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?(?!\d))?|([^${TERMINATORS}]+))`,
  "gu",
);
const UNFINISHED_REFERENCE = new RegExp(String.raw`(?<![\w.+-])@(?:"([^"\n]*)|([^${TERMINATORS}]*))$`, "u");
const TRAILING = /[.:!?)\]}>'*]+$/;
const LINES = /^(.+):([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?$/s;

/** Everything that reads like a reference, in its order. Whether there is such a file, only the server knows. */
export function parseReferences(text: string): readonly Reference[] {
  return [...text.matchAll(REFERENCE)].flatMap((match) => {
    const [matchText, quoted, from, to, plain] = match;
    if (plain !== undefined) return plainReference(plain, match.index);
    const path = unquoted(quoted ?? "");
    const lines = linesOf(from, to);
    if (path === "") return [];
    const isRange = from !== undefined && lines !== null;
    const end = match.index + (isRange ? matchText.length : 1 + (quoted?.length ?? 0));
    return [{ path, lines, start: match.index, end }];
  });
}

function plainReference(written: string, start: number): readonly Reference[] {
  const text = written.replace(TRAILING, "");
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

/** As it is written in a text. A path that could be read otherwise, or that hides something, stands in quotes. */
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

/** What is being written where the caret stands: `start` is the sign's place, `query` what follows it. Lines are not looked for. */
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

/** The same file and lines are the same reference, however often they are named. */
export function uniqueReferences(references: readonly Reference[]): readonly Reference[] {
  return [...new Map(references.map((each) => [formatReference(each.path, each.lines), each])).values()];
}
