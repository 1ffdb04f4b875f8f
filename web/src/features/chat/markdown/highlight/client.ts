/** Asks for the colours of code: one thread for the page, begun with the first question. What was found is remembered. */
import { useEffect, useState } from "react";
import { Bounded } from "./bounded";
import type { LanguageName } from "./languages";
import type { Run } from "./tokenize";
import type { Answer, Question } from "./worker";

const MOST_LETTERS = 100_000;
const MOST_LINES = 2_000;
/** A grammar can be led astray. The thread is ended then, and this code stays plain. */
const PATIENCE_MS = 10_000;

interface Waiting extends Question {
  readonly answer: (runs: Answer) => void;
}

/** What is remembered, in letters, and what an entry costs without any. */
const MOST_REMEMBERED = 1_000_000;
const ENTRY = 100;

/** `null` for code that stays plain. */
const known = new Bounded<readonly Run[] | null>(MOST_REMEMBERED);
const waiting: Waiting[] = [];
let thread: Worker | undefined;
let isBusy = false;

/** The runs of this code, once they are there. Without a language it stays plain. */
export function useRuns(code: string, language: LanguageName | undefined): readonly Run[] | undefined {
  const key = `${language ?? ""} ${code}`;
  const [found, setFound] = useState<{ readonly key: string; readonly runs: Answer }>();
  useEffect(() => {
    if (language === undefined || known.get(key) !== undefined || isTooLong(code)) return undefined;
    let isShown = true;
    const answer = (runs: Answer): void => {
      known.set(key, runs ?? null, code.length + ENTRY);
      if (isShown) setFound({ key, runs });
    };
    const question = { code, language, answer };
    waiting.push(question);
    askNext();
    return () => {
      isShown = false;
      const index = waiting.indexOf(question);
      if (index > 0) waiting.splice(index, 1); // the first one is being answered
    };
  }, [key, code, language]);
  return found?.key === key ? found.runs : (known.get(key) ?? undefined);
}

function isTooLong(code: string): boolean {
  return code.length > MOST_LETTERS || code.split("\n", MOST_LINES + 1).length > MOST_LINES;
}

function askNext(): void {
  const next = waiting[0];
  if (isBusy || next === undefined) return;
  isBusy = true;
  const asked = (thread ??= new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
  const finish = (runs: Answer): void => {
    clearTimeout(timer);
    asked.onmessage = null;
    asked.onerror = null;
    isBusy = false;
    waiting.shift();
    next.answer(runs);
    askNext();
  };
  const giveUp = (): void => {
    asked.terminate();
    thread = undefined;
    finish(undefined);
  };
  const timer = setTimeout(giveUp, PATIENCE_MS);
  asked.onmessage = (event: MessageEvent<Answer>) => finish(event.data);
  asked.onerror = giveUp;
  asked.postMessage({ code: next.code, language: next.language } satisfies Question);
}
