/** A clock that only the test advances, and seeded randomness. */
import type { Environment } from "../src/environment";

export interface TestClock extends Environment {
  /** Runs everything that is ready now. */
  settle(): Promise<void>;
  /** Advances the clock, and runs due timers in order. */
  pass(milliseconds: number): Promise<void>;
}

export function makeClock(seed = 1): TestClock {
  let now = 1_000_000;
  let ids = 0;
  let chance = seed >>> 0;
  const due = new Map<number, { at: number; work: () => void }>();
  let number = 0;
  const clock: TestClock = {
    now: () => now,
    random: () => (chance = (chance * 1664525 + 1013904223) >>> 0) / 2 ** 32,
    newId: () => `id-${++ids}`,
    schedule(milliseconds, work) {
      const mine = ++number;
      due.set(mine, { at: now + milliseconds, work });
      return () => due.delete(mine);
    },
    async settle() {
      for (let turn = 0; turn < 40; turn++) await Promise.resolve();
    },
    async pass(milliseconds) {
      const end = now + milliseconds;
      await clock.settle();
      for (;;) {
        const next = [...due].filter(([, each]) => each.at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
        if (next === undefined) break;
        due.delete(next[0]);
        now = Math.max(now, next[1].at);
        next[1].work();
        await clock.settle();
      }
      now = end;
    },
  };
  return clock;
}
