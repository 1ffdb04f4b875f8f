/** Growing answers: the blocks depend on the text alone, however it was split, and finished blocks stay the same. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { EMPTY_ANSWER, updateAnswer, type ParsedAnswer } from "../src/features/chat/markdown/blocks";
import { lex } from "../src/features/chat/markdown/lexer";

const LINES = [
  "word",
  "two words",
  "- item",
  "  - inner",
  "    deeper",
  "1. one",
  "2. two",
  "2) other",
  "* star",
  "+ plus",
  "-",
  "- ",
  "> quote",
  "> - in quote",
  "> ```",
  "> [q]: http://q.example",
  ">",
  "lazy",
  "```",
  "```ts",
  "````",
  "~~~",
  "let x = **1;",
  "    code",
  "\tcode",
  "| a | b |",
  "|---|:-:|",
  "| 1 | **2** |",
  "a | b",
  "-|-",
  ":--",
  "---",
  "===",
  "***",
  "# head",
  "## head ##",
  "#tag",
  "<div>",
  "</div>",
  "<!-- open",
  "close -->",
  "<script>",
  "</script>",
  "<span>in</span>",
  "<?php",
  "?>",
  "<b",
  "[a]: http://a.example",
  '[b]: <http://b.example> "title"',
  "[c]:",
  "http://c.example",
  '"title',
  '"',
  "- [d]: http://d.example",
  "see [a] and [b][b] and [x][c] [d] [q]",
  "- [ ] task",
  "- [x] done",
  "**bold**",
  "*open",
  "`tick",
  "![i](http://i.example)",
  "[l](http://l.example)",
  "他说**“你好”**。",
  "line  ",
  "line\\",
  "",
  "",
  "",
  " ",
  "\r",
  "&amp; &#65;",
];
const line = fc.oneof(
  fc.constantFrom(...LINES),
  fc.constantFrom(...LINES).map((text) => `  ${text}`),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const text = fc.array(line, { maxLength: 24 }).map((lines) => lines.join("\n"));
const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });

function streamed(whole: string, places: readonly number[]): ParsedAnswer {
  let answer = EMPTY_ANSWER;
  for (const place of [...places].sort((a, b) => a - b)) answer = updateAnswer(answer, whole.slice(0, place), true);
  return updateAnswer(answer, whole, false);
}

const tokensOf = (answer: ParsedAnswer) => answer.blocks.map((block) => block.token);

test("blocks depend on the text alone, however it was split", () => {
  fc.assert(
    fc.property(text, cuts, (whole, places) => {
      const once = lex(whole).tokens.filter((token) => token.type !== "space" && token.type !== "def");
      expect(tokensOf(streamed(whole, places))).toEqual(once);
    }),
    { numRuns: 1_000 },
  );
});

test("blocks are the same when the text arrives letter by letter", () => {
  fc.assert(
    fc.property(text, (whole) => {
      const everywhere = [...whole].map((_, index) => index);
      expect(tokensOf(streamed(whole, everywhere))).toEqual(tokensOf(updateAnswer(EMPTY_ANSWER, whole, false)));
    }),
    { numRuns: 150 },
  );
});

const PART =
  "## Part\n\nSome *words* and `code`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nlet x = 1;\n```\n\n";

test("a finished block stays the same object, and only the tail is lexed again", () => {
  const whole = PART.repeat(40);
  const steps = Math.ceil(whole.length / 4);
  let answer = EMPTY_ANSWER;
  let rendered = 0;
  let lexed = 0;
  for (let step = 1; step <= steps; step++) {
    const next = updateAnswer(answer, whole.slice(0, step * 4), true);
    lexed += next.text.length - answer.frozenEnd;
    rendered += next.blocks.filter((block, index) => block !== answer.blocks[index]).length;
    answer = next;
  }
  expect(answer.blocks).toHaveLength(5 * 40);
  expect(rendered).toBeLessThan(steps * 1.2);
  expect(lexed).toBeLessThan(steps * 100);
});

test("the end of the stream does not change complete blocks", () => {
  const whole = PART.repeat(3);
  const streamed = updateAnswer(EMPTY_ANSWER, whole, true);
  expect(updateAnswer(streamed, whole, false).blocks.every((block, index) => block === streamed.blocks[index])).toBe(
    true,
  );
});

test("a late link definition updates frozen blocks that use it, and no others", () => {
  const before = updateAnswer(EMPTY_ANSWER, "see [a]\n\nother\n\nmore\n\n[a]: http", true);
  const after = updateAnswer(before, "see [a]\n\nother\n\nmore\n\n[a]: http://a.example\n", true);
  expect(JSON.stringify(after.blocks[0])).toContain('"href":"http://a.example"');
  expect(after.blocks.map((block, index) => block === before.blocks[index])).toEqual([false, true, true]);
});

test("a replaced text is parsed from the start", () => {
  const first = updateAnswer(EMPTY_ANSWER, "one\n\ntwo\n\nthree", true);
  expect(tokensOf(updateAnswer(first, "# other", true))).toEqual(tokensOf(updateAnswer(EMPTY_ANSWER, "# other", true)));
});

test("open syntax at the end is completed", () => {
  const types = (text: string) => JSON.stringify(tokensOf(updateAnswer(EMPTY_ANSWER, text, true)));
  expect(types("a **bold")).toContain('"type":"strong"');
  expect(types("- a\n- `co")).toContain('"type":"codespan"');
  expect(types("see [text](http://exa")).not.toContain("http");
  expect(types("![alt](http://exa")).toContain('"href":""');
  expect(types("```ts\nlet a = **b")).toContain('"text":"let a = **b"');
  expect(types("- x\n\n  ```\n  a **b")).not.toContain("b**");
});
