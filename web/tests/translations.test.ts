/** Every text of the web client has a translation, and no text is outside the catalogues. */
import { readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseSync } from "vite";
import { expect, test } from "vitest";
import { translation } from "../src/i18n/catalogue";
import { LANGUAGES, LANGUAGE_CODES } from "../src/i18n/languages";
import { fillText, textsIn } from "../src/i18n/texts";

interface Node {
  type: string;
  [name: string]: unknown;
}

const SOURCES = resolve(import.meta.dirname, "../src");
const PLACES = /\{(\w+)(?:\|[^}]*)?\}/g;
const CHINESE = /\p{Script=Han}/u;
/** Names that are the same in every language. */
const NAMES = ["Pilothouse", "English", "中文", "JSON", "Markdown", "OpenAI", "Enter", "@", "·"];
const SPOKEN = ["title", "placeholder", "alt", "label", "aria-label", "aria-description"];

const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({
    name,
    program: parseSync(name, readFileSync(join(SOURCES, name), "utf8")).program as unknown as Node,
  }));

/** All nodes of a syntax tree, except keys and code, which are the same in every language. */
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

/** Every text with its translation. */
const pairs = Object.entries(LANGUAGES.en.texts).flatMap(([section, texts]) =>
  Object.entries(texts).map(([name, en]) => ({
    name: `${section}.${name}`,
    texts: [en, (LANGUAGES.zh.texts as Record<string, Record<string, string>>)[section]?.[name]] as const,
  })),
);

test("the source files contain texts", () => expect(pairs.length).toBeGreaterThan(500));

test("every language has the same texts", () => {
  const namesIn = (texts: object) =>
    Object.entries(texts).map(([section, each]) => [section, Object.keys(each as object)]);
  for (const code of LANGUAGE_CODES) expect(namesIn(LANGUAGES[code].texts)).toEqual(namesIn(LANGUAGES.en.texts));
});

test("every text has both languages with the same parameters", () => {
  const wrong = pairs.filter(({ name, texts: [en, zh] }) => {
    if (name.startsWith("punctuation.")) return false;
    if (!en || !zh) return true;
    const isTranslated =
      CHINESE.test(zh) || NAMES.includes(en) || NAMES.includes(wordsIn(en)) || !/\p{L}{2}/u.test(wordsIn(en));
    const isMixed = CHINESE.test(en) && !NAMES.includes(en);
    return !isTranslated || isMixed || !haveSamePlaces(en, zh);
  });
  expect(wrong).toEqual([]);
});

test("a missing or extra text or different parameters are a type error", () => {
  const zh = LANGUAGES.zh.texts;
  const { close, dismiss, notices, loading } = zh.ui;
  // @ts-expect-error: `loading` is missing
  translation({ ...zh, ui: { close, dismiss, notices } });
  // @ts-expect-error: `more` is superfluous
  translation({ ...zh, ui: { close, dismiss, notices, loading, more: "更多" } });
  // @ts-expect-error: `n` is missing
  translation({ ...zh, versions: { ...zh.versions, group: "共 {total} 个" } });
  // @ts-expect-error: `n` is missing where the text is looked up
  textsIn("en", "versions")("group", { total: 3 });
});

test("no Chinese text is outside of the catalogue", () => {
  const untranslated = files.flatMap(({ name, program }) =>
    name === "i18n/zh.ts"
      ? []
      : [...nodesOf(program)]
          .filter((node) => {
            const text = textOf(node);
            return text !== null && /\p{Script=Han}{2}/u.test(text) && !NAMES.includes(text);
          })
          .map((node) => `${name}: ${textOf(node)}`),
  );
  expect(untranslated).toEqual([]);
});

/** The text without parameters and brackets. */
function wordsIn(text: string): string {
  return text
    .replace(PLACES, "")
    .replace(/[()（）]/g, "")
    .trim();
}

/**
 * Whether both texts have the same parameters. A parameter that only chooses between singular and plural may be missing
 * in the other text.
 */
function haveSamePlaces(one: string, other: string): boolean {
  const named = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name ?? "");
  const isIn = (from: string, to: string) =>
    named(from, /\{(\w+)\}/g).every((name) => named(to, PLACES).includes(name));
  return isIn(one, other) && isIn(other, one);
}

test("no text is written in the markup", () => {
  const untranslated = files.flatMap(({ name, program }) =>
    [...nodesOf(program)].flatMap((node) => {
      const isText = node.type === "JSXText" && /\p{L}/u.test(String(node.value));
      const attribute = node.type === "JSXAttribute" ? String((node.name as { name: string }).name) : "";
      const attributeText = SPOKEN.includes(attribute) ? textOf(node.value) : null;
      const text = isText ? String(node.value).trim() : attributeText;
      return text !== null && /\p{L}{2}/u.test(text) && !NAMES.includes(text) && !text.startsWith("http://127.0.0.1")
        ? [`${relative(".", name)}: ${text}`]
        : [];
    }),
  );
  expect(untranslated).toEqual([]);
});

test("a number chooses singular or plural", () => {
  expect([1, 2].map((n) => fillText("{n} {n|call|calls}", { n }))).toEqual(["1 call", "2 calls"]);
  expect(fillText("{n} 个调用", { n: 2 })).toBe("2 个调用");
});
