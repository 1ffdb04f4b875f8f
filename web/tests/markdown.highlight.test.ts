/** Highlighting: the runs join to the code exactly, in every language. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { SizedLruCache } from "../src/features/chat/markdown/highlight/lruCache";
import { GRAMMARS } from "../src/features/chat/markdown/highlight/grammars";
import { languageOf } from "../src/features/chat/markdown/highlight/languages";
import { tokenize } from "../src/features/chat/markdown/highlight/tokenize";

const NAMES = Object.keys(GRAMMARS).flatMap((name) => languageOf(name)?.name ?? []);

test.each([
  ["ts", "typescript"],
  ["TS", "typescript"],
  ["py", "python"],
  ["python:app.py", "python"],
  ["bash", "shellscript"],
  ["sh {1,2}", "shellscript"],
  ["c++", "cpp"],
  ["c#", "csharp"],
  ["Dockerfile", "docker"],
  ["yml", "yaml"],
  ["jsonl", "json"],
])("a fence with %s is %s", (info, name) => {
  expect(languageOf(info)?.name).toBe(name);
});

test.each(["", "text", "mermaid", "constructor", "__proto__"])("a fence with %j stays plain", (info) => {
  expect(languageOf(info)).toBeUndefined();
});

test("tokens of code have their kinds", { timeout: 60_000 }, async () => {
  const runs = await tokenize('// note\nconst n: number = f("s") + 1;', "typescript");
  const kinds = new Map(runs.map(([text, kind]) => [text.trim(), kind]));
  expect(
    Object.fromEntries(["// note", "const", "number", "f", '"s"', "1"].map((word) => [word, kinds.get(word)])),
  ).toEqual({
    "// note": "comment",
    const: "keyword",
    number: "type",
    f: "function",
    '"s"': "string",
    "1": "number",
  });
});

test.each(NAMES)("the runs of %s join to the code", { timeout: 60_000 }, async (name) => {
  const code = 'class A { "b" }\n\n\t# x /* 1 */ <a b="c">\n  - k: v\r\n你好 `x` \'\'\n';
  expect((await tokenize(code, name)).map(([text]) => text).join("")).toBe(code.replace("\r\n", "\n"));
});

test("the runs of any code join to the code", { timeout: 60_000 }, async () => {
  const code = fc
    .array(
      fc.constantFrom("if ", "\n", '"', "'", "`", "${", "}", "/*", "*/", "//", "<a>", "文", "\t", "0x1", "=>", "\\"),
    )
    .map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(code, async (text) => {
      expect((await tokenize(text, "tsx")).map(([part]) => part).join("")).toBe(text);
    }),
  );
});

test("the cache evicts the least recently used entry", () => {
  const memory = new SizedLruCache<number>(10);
  memory.set("a", 1, 4);
  memory.set("b", 2, 4);
  memory.get("a");
  memory.set("c", 3, 4);
  expect([memory.get("a"), memory.get("b"), memory.get("c")]).toEqual([1, undefined, 3]);
});
