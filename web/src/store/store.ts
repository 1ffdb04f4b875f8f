/** A state with somebody watching it, in the form that React's useSyncExternalStore takes. */
import type { Ambient } from "../ambient";
import type { Happening } from "./events";
import { reduce } from "./reduce";
import { isAlike } from "./share";
import { type State, initial } from "./state";

/** Something that can be watched: `getSnapshot` gives the same object until there is a new one. */
export interface Watched<T> {
  subscribe(listener: () => void): () => void;
  getSnapshot(): T;
}

export interface Store extends Watched<State> {
  dispatch(happening: Happening): void;
  /** A part of the state, or something computed from it. Listeners hear only of what changes it. */
  slice<T>(select: (state: State) => T): Watched<T>;
}

export function createStore(ambient: Ambient): Store {
  let state = initial(ambient.now());
  const listeners = new Set<() => void>();
  const store: Store = {
    dispatch(happening) {
      state = reduce(state, { ...happening, at: ambient.now() });
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getSnapshot: () => state,
    slice: (select) => sliced(store, select),
  };
  return store;
}

/** A part of something watched. Listeners hear only of what changes that part. */
export function sliced<T>(store: Watched<State>, select: (state: State) => T): Watched<T> {
  let from: State | null = null;
  let last: T;
  const current = (): T => {
    const state = store.getSnapshot();
    if (state === from) return last;
    const found = select(state);
    if (from === null || !isAlike(last, found)) last = found;
    from = state;
    return last;
  };
  return {
    getSnapshot: current,
    subscribe(listener) {
      let seen = current();
      return store.subscribe(() => {
        const now = current();
        if (now === seen) return;
        seen = now;
        listener();
      });
    },
  };
}
