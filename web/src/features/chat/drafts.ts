/** What somebody has begun to write, for each conversation: it is there again after a reload. */
import { keep, kept } from "../../app/looks";

const keyOf = (id: string | null) => `pilothouse-draft-${id ?? "new"}`;

export const drafts = {
  read: (id: string | null): string => kept(keyOf(id)) ?? "",
  write(id: string | null, text: string): void {
    if (text !== "") return keep(keyOf(id), text);
    try {
      localStorage.removeItem(keyOf(id));
    } catch {
      // nothing was kept
    }
  },
};
