/** A value shared by components and unknown to the server: the open dialog, the selected model. */
import { useSyncExternalStore } from "react";
import type { Subscribable } from "../store/store";

export interface Atom<T> extends Subscribable<T> {
  set(value: T): void;
}

export function createAtom<T>(first: T): Atom<T> {
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

export function useAtom<T>(atom: Atom<T>): T {
  return useSyncExternalStore(atom.subscribe, atom.getSnapshot);
}
