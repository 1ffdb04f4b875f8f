/** A value that several parts of the page share, and that is nobody's but this page's: what is open, what was chosen. */
import { useSyncExternalStore } from "react";
import type { Watched } from "../store/store";

export interface Cell<T> extends Watched<T> {
  set(value: T): void;
}

export function makeCell<T>(first: T): Cell<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    getSnapshot: () => value,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener();
    },
  };
}

export function useCell<T>(cell: Cell<T>): T {
  return useSyncExternalStore(cell.subscribe, cell.getSnapshot);
}
