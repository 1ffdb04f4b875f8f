/** Highlights code in a worker, which is started with the first request. Results are cached. */
import { useEffect, useState } from "react";
import { SizedLruCache } from "./lruCache";
import type { LanguageName } from "./languages";
import type { Run } from "./tokenize";
import type { HighlightResult, HighlightRequest } from "./worker";

const MAX_HIGHLIGHTED_CHARACTERS = 100_000;
const MAX_HIGHLIGHTED_LINES = 2_000;
/** A pathological input can take forever: the worker is terminated, and this code stays plain. */
const WORKER_TIMEOUT_MS = 10_000;

interface QueuedRequest extends HighlightRequest {
  readonly onResult: (runs: HighlightResult) => void;
}

/** The size of the cache, and the overhead of an entry, in characters. */
const MAX_CACHED_CHARACTERS = 1_000_000;
const ENTRY_OVERHEAD_CHARACTERS = 100;

/** Null for code that stays plain. */
const cache = new SizedLruCache<readonly Run[] | null>(MAX_CACHED_CHARACTERS);
const queue: QueuedRequest[] = [];
let worker: Worker | undefined;
let isBusy = false;

/** The highlighted runs of a code block once they are available; undefined for plain code. */
export function useHighlightedRuns(code: string, language: LanguageName | undefined): readonly Run[] | undefined {
  const key = `${language ?? ""} ${code}`;
  const [result, setResult] = useState<{ readonly key: string; readonly runs: HighlightResult }>();
  useEffect(() => {
    if (language === undefined || cache.get(key) !== undefined || isTooLong(code)) return undefined;
    let isMounted = true;
    const onResult = (runs: HighlightResult): void => {
      cache.set(key, runs ?? null, code.length + ENTRY_OVERHEAD_CHARACTERS);
      if (isMounted) setResult({ key, runs });
    };
    const request = { code, language, onResult };
    queue.push(request);
    processNext();
    return () => {
      isMounted = false;
      const index = queue.indexOf(request);
      if (index > 0) queue.splice(index, 1); // the worker is processing the first request
    };
  }, [key, code, language]);
  return result?.key === key ? result.runs : (cache.get(key) ?? undefined);
}

function isTooLong(code: string): boolean {
  return (
    code.length > MAX_HIGHLIGHTED_CHARACTERS ||
    code.split("\n", MAX_HIGHLIGHTED_LINES + 1).length > MAX_HIGHLIGHTED_LINES
  );
}

function processNext(): void {
  const next = queue[0];
  if (isBusy || next === undefined) return;
  isBusy = true;
  const currentWorker = (worker ??= new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
  const finish = (runs: HighlightResult): void => {
    clearTimeout(timer);
    currentWorker.onmessage = null;
    currentWorker.onerror = null;
    isBusy = false;
    queue.shift();
    next.onResult(runs);
    processNext();
  };
  const abort = (): void => {
    currentWorker.terminate();
    worker = undefined;
    finish(undefined);
  };
  const timer = setTimeout(abort, WORKER_TIMEOUT_MS);
  currentWorker.onmessage = (event: MessageEvent<HighlightResult>) => finish(event.data);
  currentWorker.onerror = abort;
  currentWorker.postMessage({ code: next.code, language: next.language } satisfies HighlightRequest);
}
