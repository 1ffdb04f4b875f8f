/** Highlights code in a worker, which is started with the first request. Results are cached. */
import { useEffect, useState } from "react";
import { SizedLruCache } from "./lruCache";
import type { LanguageName } from "./languages";
import type { Run } from "./tokenize";
import type { Answer, Question } from "./worker";

const MAX_CHARACTERS = 100_000;
const MAX_LINES = 2_000;
/** A pathological input can take forever: the worker is terminated, and this code stays plain. */
const WORKER_TIMEOUT_MS = 10_000;

interface QueuedRequest extends Question {
  readonly answer: (runs: Answer) => void;
}

/** The size of the cache, and the overhead of an entry, in characters. */
const MAX_CACHED_CHARACTERS = 1_000_000;
const ENTRY_OVERHEAD = 100;

/** Null for code that stays plain. */
const cache = new SizedLruCache<readonly Run[] | null>(MAX_CACHED_CHARACTERS);
const queue: QueuedRequest[] = [];
let worker: Worker | undefined;
let isBusy = false;

/** The highlighted runs of a code block once they are available; undefined for plain code. */
export function useHighlightedRuns(code: string, language: LanguageName | undefined): readonly Run[] | undefined {
  const key = `${language ?? ""} ${code}`;
  const [result, setResult] = useState<{ readonly key: string; readonly runs: Answer }>();
  useEffect(() => {
    if (language === undefined || cache.get(key) !== undefined || isTooLong(code)) return undefined;
    let isShown = true;
    const answer = (runs: Answer): void => {
      cache.set(key, runs ?? null, code.length + ENTRY_OVERHEAD);
      if (isShown) setResult({ key, runs });
    };
    const request = { code, language, answer };
    queue.push(request);
    processNext();
    return () => {
      isShown = false;
      const index = queue.indexOf(request);
      if (index > 0) queue.splice(index, 1); // the worker is processing the first request
    };
  }, [key, code, language]);
  return result?.key === key ? result.runs : (cache.get(key) ?? undefined);
}

function isTooLong(code: string): boolean {
  return code.length > MAX_CHARACTERS || code.split("\n", MAX_LINES + 1).length > MAX_LINES;
}

function processNext(): void {
  const next = queue[0];
  if (isBusy || next === undefined) return;
  isBusy = true;
  const currentWorker = (worker ??= new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
  const finish = (runs: Answer): void => {
    clearTimeout(timer);
    currentWorker.onmessage = null;
    currentWorker.onerror = null;
    isBusy = false;
    queue.shift();
    next.answer(runs);
    processNext();
  };
  const giveUp = (): void => {
    currentWorker.terminate();
    worker = undefined;
    finish(undefined);
  };
  const timer = setTimeout(giveUp, WORKER_TIMEOUT_MS);
  currentWorker.onmessage = (event: MessageEvent<Answer>) => finish(event.data);
  currentWorker.onerror = giveUp;
  currentWorker.postMessage({ code: next.code, language: next.language } satisfies Question);
}
