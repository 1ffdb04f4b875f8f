/** The messages of the active branch: which there are, which are loaded, which are shown. */
import type { BranchShape, ContextShape } from "../api/schema";
import type { Message } from "../api/types";
import { share, without } from "./share";
import { type Copy, type Order, PAGE, type Tick, tell } from "./state";

const OPEN = ["pending", "approved", "executing"];

/** Whether a message can never change again. One that can is pulled again with every change of its context. */
export function isComplete(message: Message): boolean {
  const held = message.metadata?.held ?? null;
  if (held === "processing") return false;
  if (message.type === "file_reference" || message.type === "image")
    return held !== null || message.resolved_at != null;
  if (message.type === "tool_request") return !message.calls.some((call) => OPEN.includes(call.status));
  return true;
}

/**
 * Takes the list over from the context. It names only its last ids: those are joined to what is loaded. Another branch,
 * or a gap, begins anew with the last page.
 */
export function follow(copy: Copy, shape: ContextShape): Copy {
  const branch = shape.branches[shape.active_branch];
  if (branch === undefined) return copy;
  const named = branch.message_ids ?? [];
  const start = branch.length - named.length;
  const { key, load, first, ids } = copy.branch;
  const isJoined = branch.key === key && start <= first + ids.length && branch.length >= first + ids.length;
  const order: Order = isJoined
    ? {
        key,
        load,
        first,
        ids: [...ids.slice(0, Math.max(0, start - first)), ...named.slice(Math.max(0, first - start))],
      }
    : { key: branch.key, load: load + 1, first: branch.length - Math.min(PAGE, named.length), ids: named.slice(-PAGE) };
  return settle({ ...copy, branch: share(copy.branch, order) });
}

/**
 * Shows what can be shown. A list that was only continued is shown up to the first message that is missing, older ones
 * when all of them are there; one that was begun anew replaces the old one when it is there as a whole.
 */
export function settle(copy: Copy): Copy {
  const { branch, shown, messages } = copy;
  const isLoaded = (ids: readonly string[]) => ids.every((id) => messages[id] !== undefined);
  const isSame = branch.load === shown.load;
  if (!isSame && !(isLoaded(branch.ids) && (branch.ids.length > 0 || branch.first === 0))) return copy;
  const older = isSame ? shown.first - branch.first : 0;
  const from = isLoaded(branch.ids.slice(0, older)) ? 0 : older;
  const missing = branch.ids.findIndex((id, index) => index >= from && messages[id] === undefined);
  const ids = branch.ids.slice(from, missing < 0 ? undefined : missing);
  const next = share(shown, { ...branch, first: branch.first + from, ids });
  if (next === shown) return copy;
  return {
    ...copy,
    shown: next,
    messages: isSame ? messages : listed(messages, branch.ids),
    texts: without(copy.texts, (id) => next.ids.includes(id)),
  };
}

function listed(messages: Copy["messages"], ids: readonly string[]): Copy["messages"] {
  const all = new Set(ids);
  return without(messages, (id) => !all.has(id));
}

export function takeMessages(copy: Copy, ids: readonly string[], found: readonly Message[], asked: Tick): Copy {
  const byId = new Map(found.map((message) => [message.message_id, message]));
  const messages = { ...copy.messages };
  const all = copy.branch.ids;
  for (const id of ids) {
    const old = messages[id];
    if (!all.includes(id) || (old !== undefined && old.asked >= asked)) continue;
    messages[id] = { told: old?.told ?? -1, asked, message: share(old?.message, byId.get(id) ?? null) };
  }
  return settle({ ...copy, messages });
}

/** The ids of an older page. They are shown when their messages have come. */
export function takeOlder(copy: Copy, before: number, found: BranchShape, tick: Tick): Copy {
  const { branch } = copy;
  const ids = found.message_ids ?? [];
  if (before !== branch.first) return copy;
  const done = { ...copy, wantsOlder: false };
  if (found.key !== branch.key || ids.length === 0) return tell(done, tick); // made anew meanwhile
  return settle({ ...done, branch: { ...branch, first: before - ids.length, ids: [...ids, ...branch.ids] } });
}

/** Only what a tab shows of a context that nobody looks at. */
export function forget(copy: Copy): Copy {
  const branch = { key: "", load: copy.branch.load + 1, first: 0, ids: [] };
  return { ...copy, branch, shown: branch, messages: {}, texts: {}, wantsOlder: false };
}
