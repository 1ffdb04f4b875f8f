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

test("what is shown first and the rest are the whole text, and the first is short", () => {
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

test("twelve lines are shown whole, and thirteen are not", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`).join("\n");
  expect(previewOf(lines(12)).rest).toBe("");
  expect(previewOf(`${lines(12)}\n`).rest).toBe("");
  expect(previewOf(lines(13)).rest).toBe("\nline 12");
});

test("a character is never cut into halves", () => {
  const text = `${"x".repeat(MAX_PREVIEW_CHARACTERS - 1)}😀 and more`;
  expect(previewOf(text).head).toBe("x".repeat(MAX_PREVIEW_CHARACTERS - 1));
  const long = linePieces(`${"y".repeat(1_999)}😀${"z".repeat(5_000)}`);
  expect(long.map((piece) => piece.text).join("")).toBe(`${"y".repeat(1_999)}😀${"z".repeat(5_000)}`);
  expect(long[0]?.text).toBe("y".repeat(1_999));
});

test("the pieces of a text are its lines, each piece on one of them", () => {
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

test("sizes are said as files are measured", () => {
  expect([12, 1_500, 118_000, 2_500_000].map(formatTextSize)).toEqual(["12 B", "1.5 kB", "118 kB", "2.5 MB"]);
});

test("letters that are read from right to left stand by themselves, and nothing between them turns around", () => {
  expect(runsOf("cp \u05d0\u05d1 1/2 \u05d2 x")).toEqual(["cp ", "\u05d0\u05d1", " 1/2 ", "\u05d2", " x"]);
  expect(runsOf("date -u")).toEqual(["date -u"]);
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => runsOf(text).join("") === text));
});
