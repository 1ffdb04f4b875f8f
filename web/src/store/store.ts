/** An observable state with the interface of React's useSyncExternalStore. */
import type { Environment } from "../environment";
import type { StoreEvent } from "./events";
import { reduce } from "./reduce";
import { isEqual } from "./structuralSharing";
import { type State, initialState } from "./state";

/** An observable value: `getSnapshot` returns the same object until the value changes. */
export interface Subscribable<T> {
  subscribe(listener: () => void): () => void;
  getSnapshot(): T;
}

export interface Store extends Subscribable<State> {
  dispatch(event: StoreEvent): void;
  /** Derives an observable. Its listeners run only when the selected value changes. */
  select<T>(selector: (state: State) => T): Subscribable<T>;
}

export function createStore(environment: Environment): Store {
  let state = initialState(environment.now());
  const listeners = new Set<() => void>();
  const store: Store = {
    dispatch(event) {
      state = reduce(state, { ...event, at: environment.now() });
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getSnapshot: () => state,
    select: (selector) => selectFrom(store, selector),
  };
  return store;
}

/** Derives an observable from a store. Its listeners run only when the selected value changes. */
export function selectFrom<T>(store: Subscribable<State>, selector: (state: State) => T): Subscribable<T> {
  let lastState: State | null = null;
  let lastSelected: T;
  const current = (): T => {
    const state = store.getSnapshot();
    if (state === lastState) return lastSelected;
    const selected = selector(state);
    if (lastState === null || !isEqual(lastSelected, selected)) lastSelected = selected;
    lastState = state;
    return lastSelected;
  };
  return {
    getSnapshot: current,
    subscribe(listener) {
      let lastNotified = current();
      return store.subscribe(() => {
        const now = current();
        if (now === lastNotified) return;
        lastNotified = now;
        listener();
      });
    },
  };
}
