/** The highlighting worker: one request at a time, one response to each. */
import type { LanguageName } from "./languages";
import { tokenize, type Run } from "./tokenize";

export interface HighlightRequest {
  readonly code: string;
  readonly language: LanguageName;
}

/** Undefined if the language could not be loaded or its grammar failed. */
export type HighlightResult = readonly Run[] | undefined;

addEventListener("message", (event: MessageEvent<HighlightRequest>) => {
  const { code, language } = event.data;
  tokenize(code, language).then(
    (runs: HighlightResult) => postMessage(runs),
    () => postMessage(undefined),
  );
});
