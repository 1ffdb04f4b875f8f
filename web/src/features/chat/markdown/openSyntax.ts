/**
 * Completes the unfinished syntax at the end of a streaming answer (`**`, a backtick, a link), so that it renders as if
 * it were closed.
 */
import type { Links, Token } from "marked";
import remend from "remend";
import { lex } from "./lexer";

const MAX_COMPLETED_CHARACTERS = 8_000;
const OPTIONS = { katex: false, comparisonOperators: false, singleTilde: false, linkMode: "text-only" } as const;
/** The placeholder address of an unfinished image in the output of `remend`. */
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

/** Whether the text ends inside a code block, which must not be completed. */
function isInCode(token: Token): boolean {
  if (token.type === "code" || token.type === "html") return true;
  const parts: unknown =
    token.type === "list" ? token.items : token.type === "blockquote" || token.type === "list_item" ? token.tokens : [];
  const last: Token | undefined = Array.isArray(parts) ? parts.at(-1) : undefined;
  return last !== undefined && isInCode(last);
}
