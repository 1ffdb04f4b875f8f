/** Filled-in answers, stored until the question is answered so that they survive a reload. */
import { readStorage, writeStorage } from "../../app/storage";

const keyOf = (call: string) => `pilothouse-answers-${call}`;

export const storedAnswers = {
  read: (call: string): string | null => readStorage(keyOf(call)),
  write: (call: string, values: string): void => writeStorage(keyOf(call), values),
  forget(call: string): void {
    try {
      localStorage.removeItem(keyOf(call));
    } catch {
      // the storage is disabled
    }
  },
};
