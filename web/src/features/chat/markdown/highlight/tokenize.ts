/** Tokenizes code into runs of one kind. Slow, and therefore runs in the worker. */
import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
import { codeToTokensBase, createShikiPrimitive } from "@shikijs/primitive";
import { GRAMMARS } from "./grammars";
import type { LanguageName } from "./languages";
import { tokenKindOf, THEME, type TokenKind } from "./tokenTheme";

/** A run of text of one kind. All runs together are the code. */
export type Run = readonly [text: string, kind: TokenKind];

const MAX_LINE_CHARACTERS = 2_000;

const shiki = createShikiPrimitive({
  engine: createJavaScriptRegexEngine({ forgiving: true }),
  themes: [THEME],
  langs: [],
});

export async function tokenize(code: string, language: LanguageName): Promise<Run[]> {
  if (!shiki.getLoadedLanguages().includes(language)) shiki.loadLanguageSync((await GRAMMARS[language]()).default);
  const lines = codeToTokensBase(shiki, code, {
    lang: language,
    theme: THEME.name ?? "",
    tokenizeMaxLineLength: MAX_LINE_CHARACTERS,
    // No limit: an aborted line breaks the lines after it, and the client terminates the worker after a timeout.
    tokenizeTimeLimit: 0,
  });
  const runs: [string, TokenKind][] = [];
  for (const [index, line] of lines.entries()) {
    if (index > 0) appendRun(runs, "\n", "");
    for (const token of line) appendRun(runs, token.content, tokenKindOf(token.color));
  }
  return runs;
}

/** Blanks have no colour and join the previous run. */
function appendRun(runs: [string, TokenKind][], text: string, kind: TokenKind): void {
  const last = runs.at(-1);
  if (last !== undefined && (last[1] === kind || text.trim() === "")) last[0] += text;
  else runs.push([text, kind]);
}
