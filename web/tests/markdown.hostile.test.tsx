/**
 * Hostile texts: each is displayed, formatted or as plain text, without overflow, exception or an excess of elements.
 */
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { EMPTY_ANSWER, updateAnswer } from "../src/features/chat/markdown/blocks";
import { Markdown, type MarkdownLabels } from "../src/features/chat/markdown/Markdown";

const labels: MarkdownLabels = {
  copy: "c",
  copied: "c",
  copyTable: "c",
  wrap: "w",
  download: "d",
  showAll: "{n}",
  code: "c",
  table: "t",
  image: "i",
  done: "d",
  notDone: "n",
};
const MAX_TEXT_CHARACTERS = 1_000_000;
const filled = (piece: string, size = MAX_TEXT_CHARACTERS) => piece.repeat(Math.ceil(size / piece.length));

const TEXTS: Readonly<Record<string, string>> = {
  quotes: ">".repeat(10_000),
  "quotes with lazy lines": filled("> - a\nb\n", 200_000),
  "quotes in quotes with lazy lines": filled(`${"> ".repeat(30)}a\nb\n`, 200_000),
  bullets: filled("- ", 20_000),
  numbers: filled("1. ", 20_000),
  "bullets and quotes": filled("- > ", 20_000),
  "deeper and deeper": Array.from({ length: 600 }, (_, index) => `${"  ".repeat(index)}- a`).join("\n"),
  brackets: filled("["),
  "open links": `${filled("[a](b")})`,
  images: filled("!["),
  stars: "*".repeat(100_000),
  "stars and letters": filled("*a", 100_000),
  underlines: filled("_a ", 100_000),
  backticks: Array.from({ length: 600 }, (_, index) => "`".repeat(index)).join("a"),
  exclamations: filled("!", 100_000),
  "letters before @": `${filled("a", 100_000)}@`,
  addresses: `http://${filled("a.", 100_000)}${filled("!", 100_000)}`,
  entities: filled("&#1;"),
  tags: filled("<a "),
  comments: filled("<!--"),
  "a long table": `|a|b|\n|-|-|\n${filled("|x|y|\n")}`,
  "a wide table": `${filled("a|", 100_000)}\n${filled("-|", 100_000)}\n${filled("b\n", 2_000)}`,
  "a table in each line": filled("x\n|-|-|\n", 200_000),
  tasks: filled("- [ ] a\n", 200_000),
  "lazy lines of an item": `- ${filled("a\n", 200_000)}`,
  definitions: filled("[a]: b\n", 200_000),
  "different definitions": Array.from({ length: 5_000 }, (_, index) => `[a${index}]: http://a.example\n`).join(""),
  fences: filled("```\n"),
  underlined: filled("---\na\n", 200_000),
  "empty lines": filled("\n"),
  surrogates: filled("\ud800"),
  zeros: filled("\0"),
};

test.each(Object.entries(TEXTS))("%s", { timeout: 60_000 }, (_, text) => {
  const html = renderToStaticMarkup(<Markdown text={text} isStreaming={false} labels={labels} />);
  expect(html.match(/</g)?.length ?? 0).toBeLessThan(100_000);
});

test("deeply nested syntax stays plain text", () => {
  const html = renderToStaticMarkup(<Markdown text={">".repeat(10_000)} isStreaming={false} labels={labels} />);
  expect(html.match(/<blockquote>/g)).toHaveLength(24);
  expect(html).toContain("&gt;".repeat(100));
});

test("text beyond 200,000 characters is not lexed", () => {
  const answer = updateAnswer(EMPTY_ANSWER, filled("word *em*\n\n"), true);
  expect(answer.blocks.at(-1)?.token.type).toBe("code");
  expect(answer.blocks.at(-1)?.token.raw.length).toBe(filled("word *em*\n\n").length - 200_000);
});
