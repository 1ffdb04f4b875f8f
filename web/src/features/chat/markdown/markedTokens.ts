/** Which of marked's tokens are its own: those have the fields that their types say. */
import type { MarkedToken, Token } from "marked";

const OWN: ReadonlySet<string> = new Set<MarkedToken["type"]>([
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

export function isMarked(token: Token): token is MarkedToken {
  return OWN.has(token.type);
}
