/** Time, chance and ids. Whatever needs them is given them, so that tests can give their own. */
export interface Ambient {
  /** Milliseconds since some instant. */
  now(): number;
  /** Between 0 and 1. */
  random(): number;
  newId(): string;
  /** Does something later. Gives what takes it back. */
  later(milliseconds: number, work: () => void): () => void;
}

export const systemAmbient: Ambient = {
  now: () => Date.now(),
  random: () => Math.random(),
  newId: () => crypto.randomUUID(),
  later(milliseconds, work) {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
};

const FIRST = 250;
const LONGEST = 8_000;

/** How long to wait after so many failures in a row: not at all, then longer each time, and never all at once. */
export function pauseAfter(failures: number, ambient: Ambient): number {
  return failures <= 1 ? 0 : Math.min(FIRST * 2 ** (failures - 2), LONGEST) * (0.5 + ambient.random());
}
