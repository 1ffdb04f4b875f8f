/** What is filled in, kept until the question is answered: it is there again after a reload. */
import { keep, kept } from "../../app/looks";

const keyOf = (call: string) => `pilothouse-answers-${call}`;

export const answers = {
  read: (call: string): string | null => kept(keyOf(call)),
  write: (call: string, filled: string): void => keep(keyOf(call), filled),
  forget(call: string): void {
    try {
      localStorage.removeItem(keyOf(call));
    } catch {
      // nothing was kept
    }
  },
};
