/** Emphasis beside Chinese text works, and other text is parsed as by marked itself. */
import fc from "fast-check";
import { Lexer, type Token } from "marked";
import { expect, test } from "vitest";
import { lex } from "../src/features/chat/markdown/lexer";

/** Serializes tokens: strong text in [], emphasis in (). */
function serialize(tokens: readonly Token[]): string {
  return tokens.map(one).join("");
}

function one(token: Token): string {
  const inside = "tokens" in token && token.tokens !== undefined ? serialize(token.tokens) : token.raw;
  if (token.type === "strong") return `[${inside}]`;
  if (token.type === "em") return `(${inside})`;
  return token.type === "del" ? `{${inside}}` : inside;
}

test.each([
  ["他说**“你好”**。", "他说[“你好”]。"],
  ["**注意：**请看", "[注意：]请看"],
  ["中文*斜体*中文", "中文(斜体)中文"],
  ["**“你好”**了", "[“你好”]了"],
  ["他说**(你好)**了", "他说[(你好)]了"],
  ["请看**《书名》**一书", "请看[《书名》]一书"],
  ["这是**重点。**下一句**再来！**完", "这是[重点。]下一句[再来！]完"],
  ["使用**`code`**即可", "使用[`code`]即可"],
  ["**好的👍**了", "[好的👍]了"],
  ["English**（注）**text", "English[（注）]text"],
  ["~~“旧的”~~新的", "{“旧的”}新的"],
  ["***“强”***吧", "([“强”])吧"],
  ["これは**「強調」**です", "これは[「強調」]です"],
  ["한국어**(강조)**입니다", "한국어[(강조)]입니다"],
  ["价格20~30元，或40~50元", "价格20~30元，或40~50元"],
  ["中 ** 不 ** 是", "中 ** 不 ** 是"],
  ["a**“b”**c", "a**“b”**c"],
  ["snake_case_name 和 a*b", "snake_case_name 和 a*b"],
])("%s", (typed, expected) => {
  expect(serialize(lex(typed).tokens)).toBe(expected);
});

// Excludes a single `~`, which is plain text here, and definitions over several lines.
const PIECES = [
  "*",
  "**",
  "***",
  "_",
  "__",
  "~~",
  "`",
  "a",
  "b c",
  " ",
  ".",
  "(",
  ")",
  '"',
  "!",
  "[x](http://x.example)",
  "[r]",
  "\\*",
  "\n",
  "\n\n",
  "- ",
  "1. ",
  "> ",
  "# ",
  "|",
  "a | b\n-|-\n",
  "```\n",
  "<b>",
  "&amp;",
  "http://y.example",
  "    ",
  "---\n",
  "===\n",
  "[r]: http://r.example\n\n",
  "- [ ] ",
  "<div>\n",
  "  \n",
];

test("other text is parsed as by marked", () => {
  const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, (typed) => {
      expect([...lex(typed).tokens]).toEqual([...new Lexer({ gfm: true }).lex(typed)]);
    }),
    { numRuns: 1_000 },
  );
});
