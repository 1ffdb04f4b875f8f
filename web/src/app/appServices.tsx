/** The services that components use (store, commands, requests) and the hooks that read them. */
import { createContext, use, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Environment } from "../environment";
import type { Api, RequestInput, Route } from "../api/http";
import type { ModeSwitches } from "../api/modeSwitches";
import type { Problem, Routes } from "../api/schema";
import type { SendFile } from "../api/upload";
import { problemOfError } from "../api/types";
import { type Language, isLanguage } from "../i18n/languages";
import type { Command } from "../store/commands";
import { preferencesOf } from "../store/selectors";
import { type State, activeId } from "../store/state";
import type { Store } from "../store/store";

export interface AppServices {
  /** The path prefix of the server's addresses; empty without a prefix. */
  readonly basePath: string;
  readonly store: Store;
  readonly api: Api;
  /** Mode switches in flight. */
  readonly switches: ModeSwitches;
  readonly sendFile: SendFile;
  readonly environment: Environment;
  /** Sends a command. Returns its key in `outgoing`. */
  readonly act: (command: Command) => string;
  /** Retries all pending retries at once. */
  readonly wake: () => void;
}

export const AppServicesContext = createContext<AppServices | null>(null);

export function useAppServices(): AppServices {
  const services = use(AppServicesContext);
  if (services === null) throw new Error("useAppServices is used outside of AppServicesContext");
  return services;
}

/** Selects a part of the state. The component renders again only when that part changes. */
export function useSelector<T>(selector: (state: State) => T, dependencies: readonly unknown[] = []): T {
  const { store } = useAppServices();
  // `dependencies` lists the values that `selector` closes over.
  const selected = useMemo(() => store.select(selector), [store, ...dependencies]);
  return useSyncExternalStore(selected.subscribe, selected.getSnapshot);
}

export function useActiveId(): string | null {
  return useSelector(activeId);
}

export function useLanguage(): Language {
  return useSelector(languageOf);
}

/** The signed-in user's id. */
export function useUserId(): string | null {
  return useSelector((state) => state.session.value?.user_id ?? null);
}

/** The user's language, else the browser's, which `theme.js` has set on the document element. */
export function languageOf(state: State): Language {
  return (
    preferencesOf(state)?.language ?? (isLanguage(document.documentElement.lang) ? document.documentElement.lang : "en")
  );
}

interface Query<T> {
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly refetch: () => void;
}

/**
 * Fetches server data that is not part of the store: a list, a preview. Fetches again whenever `version` changes; the old
 * value stays until the new one arrives. Fetches nothing while `input` is null.
 */
export function useQuery<R extends Route>(
  route: R,
  input: RequestInput<R> | null,
  version: unknown = null,
): Query<Routes[R]["answer"]> {
  const { api } = useAppServices();
  const [result, setResult] = useState<{
    key: string;
    value: Routes[R]["answer"] | null;
    problem: Problem | null;
  } | null>(null);
  const [count, setCount] = useState(0);
  const key = JSON.stringify([route, input]);
  const latest = useRef(input);
  latest.current = input;
  useEffect(() => {
    if (latest.current === null) return;
    const controller = new AbortController();
    api(route, latest.current, { signal: controller.signal, isRepeatable: true }).then(
      (value) => setResult({ key, value, problem: null }),
      (error: unknown) => {
        if (!controller.signal.aborted)
          setResult((old) => ({
            key,
            value: old?.key === key ? old.value : null,
            problem: problemOfError(error),
          }));
      },
    );
    return () => controller.abort();
  }, [api, route, key, version, count]);
  const refetch = useCallback(() => setCount((old) => old + 1), []);
  const isCurrent = result?.key === key;
  return { value: isCurrent ? result.value : null, problem: isCurrent ? result.problem : null, refetch };
}

export interface Action {
  readonly isBusy: boolean;
  readonly problem: Problem | null;
  /** Runs the action unless it is already running. Returns whether it succeeded. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  clearProblem(): void;
}

/** Runs a user action that may fail, with its busy state and its problem. */
export function useAction(): Action {
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
    clearProblem: () => setState((old) => ({ ...old, problem: null })),
  };
}
