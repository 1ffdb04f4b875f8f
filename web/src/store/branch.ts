/** The message list of the active branch: known ids, loaded messages, displayed range. */
import type { BranchView, ContextView } from "../api/schema";
import type { Message } from "../api/types";
import { share, omit } from "./structuralSharing";
import { type ContextReplica, type MessageList, MESSAGES_PER_PAGE, type Tick, markStale } from "./state";

const UNFINISHED_CALLS = ["pending", "approved", "executing"];

/** Whether a message can no longer change. Unfinished messages are fetched again with every change of their context. */
export function isComplete(message: Message): boolean {
  const hold = message.metadata?.held ?? null;
  if (hold === "processing") return false;
  if (message.type === "file_reference" || message.type === "image")
    return hold !== null || message.resolved_at != null;
  if (message.type === "tool_request") return !message.calls.some((call) => UNFINISHED_CALLS.includes(call.status));
  return true;
}

/**
 * Updates the message list from the context's view, which contains only the last ids of the branch. New ids are joined
 * to the known ones; after a branch switch or a gap, the list starts over with the last page.
 */
export function followBranch(replica: ContextReplica, view: ContextView): ContextReplica {
  const branch = view.branches[view.active_branch];
  if (branch === undefined) return replica;
  const listedIds = branch.message_ids ?? [];
  const start = branch.length - listedIds.length;
  const { key, generation, firstPosition, ids } = replica.branch;
  const isJoined =
    branch.key === key && start <= firstPosition + ids.length && branch.length >= firstPosition + ids.length;
  const list: MessageList = isJoined
    ? {
        key,
        generation,
        firstPosition,
        ids: [
          ...ids.slice(0, Math.max(0, start - firstPosition)),
          ...listedIds.slice(Math.max(0, firstPosition - start)),
        ],
      }
    : {
        key: branch.key,
        generation: generation + 1,
        firstPosition: branch.length - Math.min(MESSAGES_PER_PAGE, listedIds.length),
        ids: listedIds.slice(-MESSAGES_PER_PAGE),
      };
  return updateShown({ ...replica, branch: share(replica.branch, list) });
}

/**
 * Extends `shown` by the loaded messages. A continued list is shown up to its first missing message, and an older page
 * once it is complete. A list that started over replaces the old one once it is complete.
 */
function updateShown(replica: ContextReplica): ContextReplica {
  const { branch, shown, messages } = replica;
  const isLoaded = (ids: readonly string[]) => ids.every((id) => messages[id] !== undefined);
  const isSame = branch.generation === shown.generation;
  if (!isSame && !(isLoaded(branch.ids) && (branch.ids.length > 0 || branch.firstPosition === 0))) return replica;
  const older = isSame ? shown.firstPosition - branch.firstPosition : 0;
  const from = isLoaded(branch.ids.slice(0, older)) ? 0 : older;
  const missing = branch.ids.findIndex((id, index) => index >= from && messages[id] === undefined);
  const ids = branch.ids.slice(from, missing < 0 ? undefined : missing);
  const next = share(shown, { ...branch, firstPosition: branch.firstPosition + from, ids });
  if (next === shown) return replica;
  return {
    ...replica,
    shown: next,
    messages: isSame ? messages : pickMessages(messages, branch.ids),
    streaming: omit(replica.streaming, (id) => next.ids.includes(id)),
  };
}

function pickMessages(messages: ContextReplica["messages"], ids: readonly string[]): ContextReplica["messages"] {
  const all = new Set(ids);
  return omit(messages, (id) => !all.has(id));
}

export function applyMessages(
  replica: ContextReplica,
  ids: readonly string[],
  fetched: readonly Message[],
  requestedAt: Tick,
): ContextReplica {
  const byId = new Map(fetched.map((message) => [message.message_id, message]));
  const messages = { ...replica.messages };
  const listedIds = replica.branch.ids;
  for (const id of ids) {
    const old = messages[id];
    if (!listedIds.includes(id) || (old !== undefined && old.requestedAt >= requestedAt)) continue;
    messages[id] = { staleAt: old?.staleAt ?? -1, requestedAt, message: share(old?.message, byId.get(id) ?? null) };
  }
  return updateShown({ ...replica, messages });
}

/** Prepends the ids of an older page. They are shown once their messages are loaded. */
export function applyOlder(replica: ContextReplica, before: number, answer: BranchView, tick: Tick): ContextReplica {
  const { branch } = replica;
  const ids = answer.message_ids ?? [];
  if (before !== branch.firstPosition) return replica;
  const next = { ...replica, wantsOlder: false };
  // The branch was replaced during the request.
  if (answer.key !== branch.key || ids.length === 0) return markStale(next, tick);
  return updateShown({
    ...next,
    branch: { ...branch, firstPosition: before - ids.length, ids: [...ids, ...branch.ids] },
  });
}

/** Drops the messages of an inactive context and keeps the data that its tab shows. */
export function dropMessages(replica: ContextReplica): ContextReplica {
  const branch = { key: "", generation: replica.branch.generation + 1, firstPosition: 0, ids: [] };
  return { ...replica, branch, shown: branch, messages: {}, streaming: {}, wantsOlder: false };
}
