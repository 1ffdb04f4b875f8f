/** What every part of the page is given: the store, commands, requests; and the hooks that read them. */
import { createContext, use, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Ambient } from "../ambient";
import type { Api, Given, Route } from "../api/http";
import type { ModeSwitches } from "../api/modeSwitches";
import type { Problem, Routes } from "../api/schema";
import type { SendFile } from "../api/upload";
import { problemOfError } from "../api/types";
import type { Language } from "../i18n/say";
import type { Command } from "../store/commands";
import { preferencesOf } from "../store/selectors";
import { type State, activeId } from "../store/state";
import type { Store } from "../store/store";

export interface Page {
  readonly store: Store;
  readonly api: Api;
  /** Switches of the mode that are under way. */
  readonly switches: ModeSwitches;
  readonly sendFile: SendFile;
  readonly ambient: Ambient;
  /** Gives the key under which the command is found in `outgoing` until it is done. */
  readonly act: (command: Command) => string;
  /** Tries at once what waits to be tried again. */
  readonly wake: () => void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = use(PageContext);
  if (page === null) throw new Error("outside of the page");
  return page;
}

/** A part of the state. The component is drawn again only when that part changes. */
export function useSlice<T>(select: (state: State) => T, needs: readonly unknown[] = []): T {
  const { store } = usePage();
  // What `select` closes over is named in `needs`.
  const slice = useMemo(() => store.slice(select), [store, ...needs]);
  return useSyncExternalStore(slice.subscribe, slice.getSnapshot);
}

export function useActiveId(): string | null {
  return useSlice(activeId);
}

export function useLanguage(): Language {
  return useSlice(languageOf);
}

/** The language that the person chose, else that of their browser (which `theme.js` has noted). */
export function languageOf(state: State): Language {
  return preferencesOf(state)?.language ?? (document.documentElement.lang === "zh" ? "zh" : "en");
}

export interface Asked<T> {
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly again: () => void;
}

/**
 * Something of the server's that is not part of the store's copy: a list, a preview. It is asked for again whenever
 * `since` changes; what there was stays until the new answer is there. Nothing is asked for while `given` is null.
 */
export function useAsked<R extends Route>(
  route: R,
  given: Given<R> | null,
  since: unknown = null,
): Asked<Routes[R]["answer"]> {
  const { api } = usePage();
  const [found, setFound] = useState<{
    about: string;
    value: Routes[R]["answer"] | null;
    problem: Problem | null;
  } | null>(null);
  const [count, setCount] = useState(0);
  const about = JSON.stringify([route, given]);
  const latest = useRef(given);
  latest.current = given;
  useEffect(() => {
    if (latest.current === null) return;
    const controller = new AbortController();
    api(route, latest.current, { signal: controller.signal, isRepeatable: true }).then(
      (value) => setFound({ about, value, problem: null }),
      (error: unknown) => {
        if (!controller.signal.aborted)
          setFound((old) => ({
            about,
            value: old?.about === about ? old.value : null,
            problem: problemOfError(error),
          }));
      },
    );
    return () => controller.abort();
  }, [api, route, about, since, count]);
  const again = useCallback(() => setCount((old) => old + 1), []);
  const isCurrent = found?.about === about;
  return { value: isCurrent ? found.value : null, problem: isCurrent ? found.problem : null, again };
}

export interface Doing {
  readonly isBusy: boolean;
  readonly problem: Problem | null;
  /** Does it, unless it is being done. Gives whether it was done. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  forget(): void;
}

/** Something that a person does and that may fail: busy meanwhile, and the reason stays where they did it. */
export function useDoing(): Doing {
  const [state, setState] = useState<{ isBusy: boolean; problem: Problem | null }>({ isBusy: false, problem: null });
  const isBusy = useRef(false);
  return {
    ...state,
    async run(work) {
      if (isBusy.current) return false;
      isBusy.current = true;
      setState({ isBusy: true, problem: null });
      try {
        await work();
        setState({ isBusy: false, problem: null });
        return true;
      } catch (error) {
        setState({ isBusy: false, problem: problemOfError(error) });
        return false;
      } finally {
        isBusy.current = false;
      }
    },
    forget: () => setState((old) => ({ ...old, problem: null })),
  };
}
