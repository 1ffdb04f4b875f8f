/** What waits in the queue of the conversation that is looked at, for who wants to edit the last of it. */
import type { QueuedMessage } from "../../api/schema";
import { makeCell } from "../../app/cell";
import { textOf } from "./said/payloads";

export const queued = makeCell<{ readonly context: string; readonly items: readonly QueuedMessage[] } | null>(null);

export function lastQueued(context: string): { readonly id: string; readonly text: string } | null {
  const now = queued.getSnapshot();
  const last = now?.context === context ? now.items.at(-1) : undefined;
  return last === undefined ? null : { id: last.item.id, text: textOf(last.messages) };
}
