/** Type guard for marked's own token types, which have the fields that marked declares. */
import type { MarkedToken, Token } from "marked";

const MARKED_TYPES: ReadonlySet<string> = new Set<MarkedToken["type"]>([
  "blockquote",
  "br",
  "checkbox",
  "code",
  "codespan",
  "def",
  "del",
  "em",
  "escape",
  "heading",
  "hr",
  "html",
  "image",
  "link",
  "list",
  "list_item",
  "paragraph",
  "space",
  "strong",
  "table",
  "text",
]);

export function isMarkedToken(token: Token): token is MarkedToken {
  return MARKED_TYPES.has(token.type);
}
