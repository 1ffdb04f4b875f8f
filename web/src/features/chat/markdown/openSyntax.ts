/** The open end of a growing answer: what is begun there (`**`, a backtick, a link) is shown as if it were finished. */
import type { Links, Token } from "marked";
import remend from "remend";
import { lex } from "./lexer";

const MAX_COMPLETED_CHARACTERS = 8_000;
const OPTIONS = { katex: false, comparisonOperators: false, singleTilde: false, linkMode: "text-only" } as const;
/** What `remend` gives an image as its address until that has come. */
const NO_ADDRESS = "(streamdown:incomplete-image)";

export function completeOpenSyntax(tokens: readonly Token[], links: Readonly<Links>): readonly Token[] {
  const last = tokens.at(-1);
  if (last === undefined || isInCode(last)) return tokens;
  const hasParts = last.type === "list" || last.type === "blockquote" || last.type === "table";
  const open = hasParts ? last.raw.lastIndexOf("\n") + 1 : 0;
  if (last.raw.length - open > MAX_COMPLETED_CHARACTERS) return tokens;
  const completed = last.raw.slice(0, open) + remend(last.raw.slice(open), OPTIONS).replace(NO_ADDRESS, "()");
  return completed === last.raw ? tokens : [...tokens.slice(0, -1), ...lex(completed, links).tokens];
}

/** Whether the text ends in a block of code, where everything is meant as it is. */
function isInCode(token: Token): boolean {
  if (token.type === "code" || token.type === "html") return true;
  const parts: unknown =
    token.type === "list" ? token.items : token.type === "blockquote" || token.type === "list_item" ? token.tokens : [];
  const last: Token | undefined = Array.isArray(parts) ? parts.at(-1) : undefined;
  return last !== undefined && isInCode(last);
}
