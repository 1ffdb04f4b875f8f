/**
 * Wraps a store so that its listeners run at most once per frame: deltas arrive faster than the browser paints. Slow
 * renders are spaced further apart. The user's own actions are rendered at once.
 */
import { flushSync } from "react-dom";
import type { State } from "../store/state";
import { type Store, selectFrom } from "../store/store";

/** Schedules rendering. `frame` returns a function that cancels. */
interface FrameScheduler {
  now(): number;
  frame(work: () => void): () => void;
}

/** Each render slower than this moves one step along FRAME_SPACINGS_MS, each faster one moves back. */
const SLOW_RENDER_MS = 8;
const FRAME_SPACINGS_MS = [0, 30, 62] as const;

export function throttleToFrames(store: Store, scheduler: FrameScheduler): Store {
  const listeners = new Set<() => void>();
  let rendered = store.getSnapshot();
  let cancel: (() => void) | null = null;
  let lastRenderAt = -Infinity;
  let spacingIndex = 0;

  function notify(): void {
    cancel?.();
    cancel = null;
    rendered = store.getSnapshot();
    for (const listener of [...listeners]) listener();
  }
  function schedule(): void {
    cancel = scheduler.frame(() => {
      const startedAt = scheduler.now();
      if (startedAt - lastRenderAt < (FRAME_SPACINGS_MS[spacingIndex] ?? 0)) return schedule();
      flushSync(notify);
      lastRenderAt = startedAt;
      spacingIndex =
        scheduler.now() - startedAt > SLOW_RENDER_MS
          ? Math.min(spacingIndex + 1, FRAME_SPACINGS_MS.length - 1)
          : Math.max(0, spacingIndex - 1);
    });
  }
  store.subscribe(() => {
    if (isUrgent(rendered, store.getSnapshot())) notify();
    else if (cancel === null) schedule();
  });
  const throttled = {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getSnapshot: () => rendered,
  };
  return { ...throttled, dispatch: store.dispatch, select: (select) => selectFrom(throttled, select) };
}

/** Whether the change must be rendered at once: a user command, another selected conversation, or a changed session. */
function isUrgent(rendered: State, now: State): boolean {
  return (
    rendered.outgoing !== now.outgoing ||
    rendered.selected !== now.selected ||
    rendered.session.value !== now.session.value
  );
}

/** Schedules by animation frames. A hidden tab has no frames and uses a timer. */
export const browserFrameScheduler: FrameScheduler = {
  now: () => performance.now(),
  frame(work) {
    const stop = () => (cancelAnimationFrame(frame), clearTimeout(timer));
    const go = () => (stop(), work());
    const frame = requestAnimationFrame(go);
    const timer = setTimeout(go, HIDDEN_FRAME_MS);
    return stop;
  },
};
const HIDDEN_FRAME_MS = 250;
