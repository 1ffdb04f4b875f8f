/** Maps the scopes of grammars to seven kinds of tokens, which are coloured by CSS. */
import type { ThemeRegistrationRaw } from "@shikijs/primitive";

export type TokenKind = "" | "keyword" | "string" | "number" | "comment" | "function" | "type" | "punctuation";

const SCOPES: Readonly<Record<Exclude<TokenKind, "">, readonly string[]>> = {
  comment: ["comment", "punctuation.definition.comment", "meta.diff.header", "meta.diff.range"],
  string: [
    "string",
    "punctuation.definition.string",
    "constant.character",
    "markup.inserted",
    "markup.inline.raw",
    "constant.other.symbol",
  ],
  number: ["constant.numeric", "constant.language", "keyword.other.unit", "support.constant", "constant.other.color"],
  function: [
    "entity.name.function",
    "support.function",
    "variable.function",
    "meta.function-call.generic",
    "entity.name.command",
    "entity.other.attribute-name",
  ],
  type: [
    "entity.name.type",
    "entity.name.class",
    "entity.name.namespace",
    "entity.other.inherited-class",
    "support.type",
    "support.class",
    "storage.type.java",
    "storage.type.primitive",
    "storage.type.cs",
    "keyword.type",
    "entity.name.section",
    "markup.heading",
    "support.type.property-name",
    "entity.name.tag.yaml",
    "meta.mapping.key string",
  ],
  keyword: [
    "keyword",
    "storage",
    "variable.language",
    "entity.name.tag",
    "markup.deleted",
    "keyword.operator.word",
    "keyword.operator.new",
    "keyword.operator.logical.python",
  ],
  punctuation: ["punctuation", "keyword.operator", "meta.brace", "storage.type.function.arrow"],
};

/** A theme can only assign colours, so each kind is encoded as a colour. */
const KINDS = new Map<string, TokenKind>();
const settings = Object.entries(SCOPES).map(([kind, scope], index) => {
  const foreground = `#00000${index + 1}`;
  KINDS.set(foreground, isKind(kind) ? kind : "");
  return { scope: [...scope], settings: { foreground } };
});

export const THEME: ThemeRegistrationRaw = { name: "kinds", fg: "#000000", bg: "#ffffff", settings };

export function tokenKindOf(color: string | undefined): TokenKind {
  return KINDS.get((color ?? "").toLowerCase()) ?? "";
}

function isKind(name: string): name is Exclude<TokenKind, ""> {
  return Object.hasOwn(SCOPES, name);
}
