import fc from "fast-check";
import { expect, test } from "vitest";
import {
  uniqueReferences,
  formatReference,
  parseReferences,
  payloadOf,
  referenceAt,
} from "../src/features/chat/composer/references";

const paths = fc.oneof(
  fc.string({ unit: "binary", minLength: 1 }),
  fc
    .array(fc.constantFrom("a", "B", ".", "/", " ", '"', "\\", ":", "1", "-", "@", "，", "文", "\n", ")", "\u202e"), {
      minLength: 1,
    })
    .map((all) => all.join("")),
);
const lines = fc.option(
  fc
    .tuple(fc.integer({ min: 1, max: 9_999_999 }), fc.integer({ min: 0, max: 1000 }))
    .map(([from, more]) => ({ from, to: Math.min(from + more, 9_999_999) })),
);

test("a formatted reference is parsed back anywhere in a text", () => {
  fc.assert(
    fc.property(
      paths,
      lines,
      fc.constantFrom("", "see ", "看"),
      fc.constantFrom("", " and more", "，然后", "\n@b"),
      (path, range, before, after) => {
        const written = formatReference(path, range);
        const [parsed] = parseReferences(before + written + after);
        expect(parsed).toEqual({ path, lines: range, start: before.length, end: before.length + written.length });
      },
    ),
  );
});

test("a formatted reference has no hidden characters and stays on its line", () => {
  fc.assert(
    fc.property(paths, (path) => void expect(formatReference(path)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)),
  );
  expect(formatReference("src/app.py")).toBe("@src/app.py");
  expect(formatReference("my file.txt", { from: 3, to: 3 })).toBe('@"my file.txt":3');
});

test("any text can be parsed, and references are at their offsets", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const { start, end } of parseReferences(text))
        (expect(text[start]).toBe("@"), expect(end).toBeLessThanOrEqual(text.length));
    }),
  );
});

test("punctuation ends a path, and a mail address is no reference", () => {
  const parsed = (text: string) =>
    parseReferences(text).map(({ path, lines: range }) => [path, range?.from, range?.to]);
  expect(parsed("Look at @src/app.py:10-40, then (@README.md). Is it @a/b.c?")).toEqual([
    ["src/app.py", 10, 40],
    ["README.md", undefined, undefined],
    ["a/b.c", undefined, undefined],
  ]);
  expect(parsed("write to ann@example.com")).toEqual([]);
  expect(parsed("请看@src/app.py:7，谢谢")).toEqual([["src/app.py", 7, 7]]);
  expect(parsed("@ alone, @a:0, @b:9-3")).toEqual([
    ["a:0", undefined, undefined],
    ["b:9-3", undefined, undefined],
  ]);
});

test("repeated references are sent once, with their lines", () => {
  const parsed = uniqueReferences(parseReferences("@a.py:1-2 @a.py @a.py:1-2"));
  expect(parsed.map(payloadOf)).toEqual([
    { type: "file_reference", path: "a.py", range: { start_line: 1, end_line: 2 } },
    { type: "file_reference", path: "a.py" },
  ]);
});

test("the unfinished reference at the caret is found", () => {
  expect(referenceAt("see @src/a and", 10)).toEqual({ start: 4, query: "src/a" });
  expect(referenceAt("@", 1)).toEqual({ start: 0, query: "" });
  expect(referenceAt('@"my fi', 7)).toEqual({ start: 0, query: "my fi" });
  expect(referenceAt("@src/a ", 7)).toBeNull();
  expect(referenceAt("@src/a:10-", 10)).toBeNull();
  expect(referenceAt("ann@ex", 6)).toBeNull();
});
