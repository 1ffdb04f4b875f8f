/**
 * A store that tells its listeners once in a frame, however often it changes: text comes faster than anybody draws.
 * Where drawing takes long, it is done less often. What the person does is shown at once.
 */
import { flushSync } from "react-dom";
import type { State } from "../store/state";
import { type Store, sliced } from "../store/store";

/** How drawing is put off. `frame` gives what takes it back. */
export interface Frames {
  now(): number;
  frame(work: () => void): () => void;
}

/** A drawing that takes longer than this is done less often: each slow one takes a step, each fast one takes it back. */
const LONG = 8;
const APART = [0, 30, 62] as const;

export function paced(store: Store, frames: Frames): Store {
  const listeners = new Set<() => void>();
  let shown = store.getSnapshot();
  let cancel: (() => void) | null = null;
  let last = -Infinity;
  let step = 0;

  function tell(): void {
    cancel?.();
    cancel = null;
    shown = store.getSnapshot();
    for (const listener of [...listeners]) listener();
  }
  function wait(): void {
    cancel = frames.frame(() => {
      const began = frames.now();
      if (began - last < (APART[step] ?? 0)) return wait();
      flushSync(tell);
      last = began;
      step = frames.now() - began > LONG ? Math.min(step + 1, APART.length - 1) : Math.max(0, step - 1);
    });
  }
  store.subscribe(() => {
    if (isUrgent(shown, store.getSnapshot())) tell();
    else if (cancel === null) wait();
  });
  const watched = {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getSnapshot: () => shown,
  };
  return { ...watched, dispatch: store.dispatch, slice: (select) => sliced(watched, select) };
}

/** Whether it is something that the person has done, or where they look. */
function isUrgent(shown: State, now: State): boolean {
  return shown.outgoing !== now.outgoing || shown.chosen !== now.chosen || shown.session.value !== now.session.value;
}

/** The browser's frames; a page that nobody sees has none, and is drawn now and then. */
export const browserFrames: Frames = {
  now: () => performance.now(),
  frame(work) {
    const stop = () => (cancelAnimationFrame(frame), clearTimeout(timer));
    const go = () => (stop(), work());
    const frame = requestAnimationFrame(go);
    const timer = setTimeout(go, UNSEEN);
    return stop;
  },
};
const UNSEEN = 250;
