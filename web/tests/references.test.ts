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

test("what is formatted is parsed back, wherever it stands in a text", () => {
  fc.assert(
    fc.property(
      paths,
      lines,
      fc.constantFrom("", "see ", "看"),
      fc.constantFrom("", " and more", "，然后", "\n@b"),
      (path, range, before, after) => {
        const written = formatReference(path, range);
        const [found] = parseReferences(before + written + after);
        expect(found).toEqual({ path, lines: range, start: before.length, end: before.length + written.length });
      },
    ),
  );
});

test("a formatted reference hides nothing and stays on its line", () => {
  fc.assert(
    fc.property(paths, (path) => void expect(formatReference(path)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)),
  );
  expect(formatReference("src/app.py")).toBe("@src/app.py");
  expect(formatReference("my file.txt", { from: 3, to: 3 })).toBe('@"my file.txt":3');
});

test("any text can be read, and what is found stands where it says", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const { start, end } of parseReferences(text))
        (expect(text[start]).toBe("@"), expect(end).toBeLessThanOrEqual(text.length));
    }),
  );
});

test("the end of a sentence is no part of a path, and an address of mail is no reference", () => {
  const found = (text: string) => parseReferences(text).map(({ path, lines: range }) => [path, range?.from, range?.to]);
  expect(found("Look at @src/app.py:10-40, then (@README.md). Is it @a/b.c?")).toEqual([
    ["src/app.py", 10, 40],
    ["README.md", undefined, undefined],
    ["a/b.c", undefined, undefined],
  ]);
  expect(found("write to ann@example.com")).toEqual([]);
  expect(found("请看@src/app.py:7，谢谢")).toEqual([["src/app.py", 7, 7]]);
  expect(found("@ alone, @a:0, @b:9-3")).toEqual([
    ["a:0", undefined, undefined],
    ["b:9-3", undefined, undefined],
  ]);
});

test("a file that is named twice is sent once, with its lines", () => {
  const found = uniqueReferences(parseReferences("@a.py:1-2 @a.py @a.py:1-2"));
  expect(found.map(payloadOf)).toEqual([
    { type: "file_reference", path: "a.py", range: { start_line: 1, end_line: 2 } },
    { type: "file_reference", path: "a.py" },
  ]);
});

test("what is being written is found at the caret, until it is finished", () => {
  expect(referenceAt("see @src/a and", 10)).toEqual({ start: 4, query: "src/a" });
  expect(referenceAt("@", 1)).toEqual({ start: 0, query: "" });
  expect(referenceAt('@"my fi', 7)).toEqual({ start: 0, query: "my fi" });
  expect(referenceAt("@src/a ", 7)).toBeNull();
  expect(referenceAt("@src/a:10-", 10)).toBeNull();
  expect(referenceAt("ann@ex", 6)).toBeNull();
});
