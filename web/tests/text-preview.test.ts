import fc from "fast-check";
import { expect, test } from "vitest";
import { runsOf } from "../src/ui/ForeignText";
import {
  MAX_PREVIEW_CHARACTERS,
  MAX_PREVIEW_LINES,
  linesIn,
  linePieces,
  previewOf,
  formatTextSize,
} from "../src/features/tool-calls/textPreview";

const anyText = fc
  .array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 40 })
  .map((lines) => lines.join("\n"));

test("head and rest join to the text, and the head is short", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { head, rest, lines } = previewOf(text);
      expect(head + rest).toBe(text);
      expect(head.length).toBeLessThanOrEqual(MAX_PREVIEW_CHARACTERS);
      expect(linesIn(head)).toBeLessThanOrEqual(MAX_PREVIEW_LINES);
      expect(lines).toBe(linesIn(text));
    }),
  );
});

test("twelve lines are shown completely, thirteen are not", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`).join("\n");
  expect(previewOf(lines(12)).rest).toBe("");
  expect(previewOf(`${lines(12)}\n`).rest).toBe("");
  expect(previewOf(lines(13)).rest).toBe("\nline 12");
});

test("a surrogate pair is never split", () => {
  const text = `${"x".repeat(MAX_PREVIEW_CHARACTERS - 1)}😀 and more`;
  expect(previewOf(text).head).toBe("x".repeat(MAX_PREVIEW_CHARACTERS - 1));
  const long = linePieces(`${"y".repeat(1_999)}😀${"z".repeat(5_000)}`);
  expect(long.map((piece) => piece.text).join("")).toBe(`${"y".repeat(1_999)}😀${"z".repeat(5_000)}`);
  expect(long[0]?.text).toBe("y".repeat(1_999));
});

test("pieces join to the lines of a text", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const lines: string[] = [];
      for (const piece of linePieces(text)) {
        if (!piece.beginsLine) lines[lines.length - 1] += piece.text;
        else expect(lines.push(piece.text)).toBe(piece.line);
      }
      expect(lines.join("\n")).toBe(text.replace(/\n$/, ""));
    }),
  );
});

test("sizes use decimal units", () => {
  expect([12, 1_500, 118_000, 2_500_000].map(formatTextSize)).toEqual(["12 B", "1.5 kB", "118 kB", "2.5 MB"]);
});

test("right-to-left runs are isolated", () => {
  expect(runsOf("cp \u05d0\u05d1 1/2 \u05d2 x")).toEqual(["cp ", "\u05d0\u05d1", " 1/2 ", "\u05d2", " x"]);
  expect(runsOf("date -u")).toEqual(["date -u"]);
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => runsOf(text).join("") === text));
});
