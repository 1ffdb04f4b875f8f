/** Clock, randomness, ids and timers, injected so that tests can replace them. */
export interface Environment {
  /** Milliseconds since the epoch. */
  now(): number;
  /** A random number in [0, 1). */
  random(): number;
  newId(): string;
  /** Runs `work` after a delay. Returns a function that cancels the timer. */
  schedule(milliseconds: number, work: () => void): () => void;
}

export const browserEnvironment: Environment = {
  now: () => Date.now(),
  random: () => Math.random(),
  newId: () => crypto.randomUUID(),
  schedule(milliseconds, work) {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
};

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 8_000;

/** The delay before a retry: none after the first failure, then exponential backoff with jitter. */
export function retryDelay(failures: number, environment: Environment): number {
  return failures <= 1
    ? 0
    : Math.min(FIRST_RETRY_MS * 2 ** (failures - 2), MAX_RETRY_MS) * (0.5 + environment.random());
}
