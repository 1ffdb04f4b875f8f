/** The queue of the selected conversation, shared with the shortcut that edits the last message. */
import type { QueuedMessage } from "../../../api/schema";
import { createAtom } from "../../../app/atom";
import { textOf } from "../user-message/payloads";

export const queueAtom = createAtom<{ readonly context: string; readonly items: readonly QueuedMessage[] } | null>(
  null,
);

export function lastQueued(context: string): { readonly id: string; readonly text: string } | null {
  const queue = queueAtom.getSnapshot();
  const last = queue?.context === context ? queue.items.at(-1) : undefined;
  return last === undefined ? null : { id: last.item.id, text: textOf(last.messages) };
}
