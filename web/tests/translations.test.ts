/** Every word that the page shows has its translation, and none stands in the markup itself. */
import { readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseSync } from "vite";
import { expect, test } from "vitest";
import { sayWord } from "../src/i18n/words";

interface Node {
  type: string;
  [name: string]: unknown;
}

const SOURCES = resolve(import.meta.dirname, "../src");
const PLACES = /\{(\w+)(?:\|[^}]*)?\}/g;
const CHINESE = /\p{Script=Han}/u;
/** Names of things, the same in every language. */
const NAMES = ["Pilothouse", "English", "中文", "JSON", "Markdown", "OpenAI", "Enter", "@", "·"];
const SPOKEN = ["title", "placeholder", "alt", "label", "aria-label", "aria-description"];

const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({
    name,
    program: parseSync(name, readFileSync(join(SOURCES, name), "utf8")).program as unknown as Node,
  }));

/** All that stands in it, but for keys and code, which are the same in every language. */
function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const each of value) yield* nodesOf(each);
  if (typeof value !== "object" || value === null || Array.isArray(value) || isLiteral(value)) return;
  if ("type" in value && typeof value.type === "string") yield value as Node;
  for (const each of Object.values(value)) yield* nodesOf(each);
}

function isLiteral(value: object): boolean {
  const { type, openingElement } = value as { type?: string; openingElement?: { name: { name?: string } } };
  return type === "JSXElement" && ["kbd", "code"].includes(openingElement?.name.name ?? "");
}

/** A literal text, or null. */
function textOf(node: unknown): string | null {
  const { type, value, quasis } = node as { type: string; value?: unknown; quasis?: { value: { cooked: string } }[] };
  if (type === "Literal" && typeof value === "string") return value;
  return type === "TemplateLiteral" && quasis?.length === 1 ? (quasis[0]?.value.cooked ?? null) : null;
}

/** Every `["Send", "发送"]`: a pair of texts of which the second is Chinese, or which stands among words. */
const pairs = files.flatMap(({ name, program }) =>
  [...nodesOf(program)].flatMap((node) => {
    if (node.type !== "VariableDeclarator" || !/(WORDS|SHORTCUTS)$/.test((node.id as { name?: string }).name ?? ""))
      return [];
    return [...nodesOf(node.init)]
      .filter((each) => each.type === "ArrayExpression")
      .map((each) => ({ file: name, texts: (each.elements as unknown[]).map(textOf) }));
  }),
);

test("there are words to look at", () => expect(pairs.length).toBeGreaterThan(60));

test("each stands in both languages, with the same parameters", () => {
  const wrong = pairs.filter(({ texts: [en, zh, ...more] }) => {
    if (!en || !zh || more.length > 0) return true;
    const isTranslated = CHINESE.test(zh) || NAMES.includes(en) || !/\p{L}{2}/u.test(en.replace(PLACES, ""));
    const isMixed = CHINESE.test(en) && !NAMES.includes(en);
    return !isTranslated || isMixed || !haveSamePlaces(en, zh);
  });
  expect(wrong).toEqual([]);
});

/** Whether both name the same parameters. One that chooses between singular and plural may be said by number alone. */
function haveSamePlaces(one: string, other: string): boolean {
  const named = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name ?? "");
  const isIn = (from: string, to: string) =>
    named(from, /\{(\w+)\}/g).every((name) => named(to, PLACES).includes(name));
  return isIn(one, other) && isIn(other, one);
}

test("no words stand in the markup itself", () => {
  const found = files.flatMap(({ name, program }) =>
    [...nodesOf(program)].flatMap((node) => {
      const isText = node.type === "JSXText" && /\p{L}/u.test(String(node.value));
      const attribute = node.type === "JSXAttribute" ? String((node.name as { name: string }).name) : "";
      const given = SPOKEN.includes(attribute) ? textOf(node.value) : null;
      const text = isText ? String(node.value).trim() : given;
      return text !== null && /\p{L}{2}/u.test(text) && !NAMES.includes(text) && !text.startsWith("http://127.0.0.1")
        ? [`${relative(".", name)}: ${text}`]
        : [];
    }),
  );
  expect(found).toEqual([]);
});

test("a number says whether one or more are meant", () => {
  const calls = ["{n} {n|call|calls}", "{n} 个调用"] as const;
  expect([1, 2].map((n) => sayWord(calls, "en", { n }))).toEqual(["1 call", "2 calls"]);
  expect(sayWord(calls, "zh", { n: 2 })).toBe("2 个调用");
});
