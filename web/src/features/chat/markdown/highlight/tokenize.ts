/** Code to runs of one kind each. This is what runs beside the page: it is slow, and nothing waits for it. */
import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
import { codeToTokensBase, createShikiPrimitive } from "@shikijs/primitive";
import { GRAMMARS } from "./grammars";
import type { LanguageName } from "./languages";
import { kindOf, THEME, type Kind } from "./theme";

/** A piece of text and its kind. All pieces together are the code, letter for letter. */
export type Run = readonly [text: string, kind: Kind];

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
    tokenizeTimeLimit: 0, // a line that is given up halfway spoils all that follow; the page has patience for the whole
  });
  const runs: [string, Kind][] = [];
  for (const [index, line] of lines.entries()) {
    if (index > 0) add(runs, "\n", "");
    for (const token of line) add(runs, token.content, kindOf(token.color));
  }
  return runs;
}

/** Space has no colour: it goes with what is before it. */
function add(runs: [string, Kind][], text: string, kind: Kind): void {
  const last = runs.at(-1);
  if (last !== undefined && (last[1] === kind || text.trim() === "")) last[0] += text;
  else runs.push([text, kind]);
}
