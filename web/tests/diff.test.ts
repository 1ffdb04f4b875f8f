import fc from "fast-check";
import { expect, test } from "vitest";
import { type DiffLine, lineCountText, countLines, parseDiff, sideBySide } from "../src/features/diff/unifiedDiff";

const SIGNS = { add: "+", remove: "-", same: " ", file: "", hunk: "", note: "" } as const;

/** Joins parsed lines to the text that they were parsed from. */
function joinDiff(lines: readonly DiffLine[]): string {
  return lines.map(({ kind, text }) => SIGNS[kind] + text).join("\n");
}

const SMALL = ["--- a.txt", "+++ a.txt", "@@ -1,3 +1,4 @@", " one", "-two", "+2", "+2 and a half", " three"].join("\n");

/** Generates diffs in the format of difflib, with consistent line numbers. */
const lineOf = fc
  .tuple(
    fc.constantFrom("+", "-", " "),
    fc.string().map((text) => text.replace(/\n/g, "")),
  )
  .map(([sign, text]) => sign + text);
const anyDiff = fc
  .array(fc.array(lineOf, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })
  .map((hunks) => {
    const lines = ["--- f", "+++ f"];
    for (const hunk of hunks) {
      const old = hunk.filter((line) => !line.startsWith("+")).length;
      const fresh = hunk.filter((line) => !line.startsWith("-")).length;
      lines.push(`@@ -1,${old} +1,${fresh} @@`, ...hunk);
    }
    return { text: lines.join("\n"), hunks };
  });

test("lines are numbered on both sides", () => {
  const lines = parseDiff(SMALL) ?? [];
  expect(lines.slice(3).map(({ old, new: fresh }) => [old, fresh])).toEqual([
    [1, 1],
    [2, null],
    [null, 2],
    [null, 3],
    [3, 4],
  ]);
  expect(countLines(lines)).toEqual({ added: 2, removed: 1, isCut: false });
});

test("parsed lines join to the diff, and each has the kind of its sign", () => {
  fc.assert(
    fc.property(anyDiff, ({ text, hunks }) => {
      const lines = parseDiff(text) ?? [];
      expect(joinDiff(lines)).toBe(text);
      const counts = countLines(lines);
      expect(counts.added).toBe(hunks.flat().filter((line) => line.startsWith("+")).length);
      expect(counts.removed).toBe(hunks.flat().filter((line) => line.startsWith("-")).length);
    }),
  );
});

test("a file line that looks like a diff header is a line", () => {
  const text = ["--- f", "+++ f", "@@ -1,2 +1,1 @@", "--- old", "-@@ -9 +9 @@", "+++ new"].join("\n");
  const lines = parseDiff(text) ?? [];
  expect(lines.slice(3).map(({ kind, text: shown }) => [kind, shown])).toEqual([
    ["remove", "-- old"],
    ["remove", "@@ -9 +9 @@"],
    ["add", "++ new"],
  ]);
});

test("after a cut, lines have no numbers until the next hunk", () => {
  const text = [
    "--- f",
    "+++ f",
    "@@ -1,0 +1,900 @@",
    "+one",
    "+tw",
    "[… 12,345 characters are not shown …]",
    "-rest of a line",
    "+nine hundred",
    "@@ -5,1 +905,1 @@",
    " end",
  ].join("\n");
  const lines = parseDiff(text) ?? [];
  expect(joinDiff(lines)).toBe(text);
  expect(lines.slice(5).map(({ kind, new: fresh }) => [kind, fresh])).toEqual([
    ["note", null],
    ["note", null],
    ["add", null],
    ["hunk", null],
    ["same", 905],
  ]);
  expect(lineCountText(countLines(lines))).toBe("+3 −0 …");
});

test("the two-column view contains every line exactly once", () => {
  fc.assert(
    fc.property(anyDiff, ({ text }) => {
      const lines = parseDiff(text) ?? [];
      const rows = sideBySide(lines);
      const left = rows.flatMap((row) => ("both" in row ? [row.both] : row.left === null ? [] : [row.left]));
      const right = rows.flatMap((row) => ("both" in row ? [row.both] : row.right === null ? [] : [row.right]));
      expect(left).toEqual(lines.filter(({ kind }) => kind !== "add"));
      expect(right).toEqual(lines.filter(({ kind }) => kind !== "remove"));
    }),
  );
});

test("other text is not parsed as a diff", () => {
  expect(parseDiff("echo hello")).toBeNull();
  expect(parseDiff("")).toBeNull();
  expect(parseDiff("--- only\nthis")).toBeNull();
});

test("the encoding line precedes the diff", () => {
  const lines = parseDiff(`encoding: shift_jis\n${SMALL}`) ?? [];
  expect(lines[0]).toEqual({ kind: "note", text: "encoding: shift_jis", old: null, new: null });
  expect(lines.slice(1)).toEqual(parseDiff(SMALL));
});
