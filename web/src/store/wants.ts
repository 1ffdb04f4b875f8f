/** What is missing, computed from the state alone. */
import { isComplete } from "./branch";
import type { Pull } from "./events";
import { KEPT, hasMessages } from "./reduce";
import { once } from "./share";
import { type Copy, PAGE, type State, activeId, isWanted } from "./state";

/** When the banner comes that there is no connection. */
export const BANNER = 3_000;

/** The pulls that would make the state right, the most urgent first. */
export function wants(state: State): Pull[] {
  if (state.connection.is === "refused") return [];
  const active = activeId(state);
  const copies = Object.values(state.contexts).filter((copy) => !copy.isGone);
  copies.sort((one, other) => Number(other.id === active) - Number(one.id === active));
  const session: Pull[] = isWanted(state.session) ? [{ kind: "session" }] : [];
  return [
    ...session,
    ...copies.flatMap((copy) => [...(copy.id === active ? wantsToShow(copy) : []), ...wantsContext(state, copy)]),
  ];
}

function wantsContext(state: State, copy: Copy): Pull[] {
  const isUnsure = copy.doubtUntil !== null && state.now >= copy.doubtUntil;
  return isWanted(copy.shape) || isUnsure ? [{ kind: "context", id: copy.id }] : [];
}

function wantsToShow(copy: Copy): Pull[] {
  const { id, branch, shape } = copy;
  const pulls: Pull[] = Object.values(copy.texts)
    .filter((writing) => writing.total > writing.sequence && isWanted(writing))
    .map((writing) => ({ kind: "text", id, message: writing.id, from: writing.sequence }));
  const ids = missing(copy);
  if (ids.length > 0) pulls.push({ kind: "messages", id, ids });
  const isUnlisted = branch.ids.length === 0; // the context does not list the ids of every branch
  // Not while the context itself is wanted: a branch that was made anew would be asked for again and again.
  if (shape.value !== null && !isWanted(shape) && branch.first > 0 && (copy.wantsOlder || isUnlisted)) {
    pulls.push({ kind: "older", id, branch: shape.value.active_branch, before: branch.first });
  }
  return pulls;
}

/** Looked for once in what is there: pieces of an answer leave that alone. */
const missing = once(
  ({ branch, messages, shape }: Copy) => [branch.ids, messages, shape.asked],
  (copy) => copy.branch.ids.filter((id) => isMissing(copy, id)).slice(0, PAGE),
);

/** What can still change is pulled again for each pull of its context. */
function isMissing(copy: Copy, id: string): boolean {
  const held = copy.messages[id];
  if (held === undefined || isWanted(held)) return true;
  return (held.message === null || !isComplete(held.message)) && copy.shape.asked > held.asked;
}

/** When time alone will change something, or null. */
export function nextDue(state: State): number | null {
  const { connection } = state;
  const due = Object.values(state.contexts).flatMap((copy) => [
    ...(copy.doubtUntil !== null ? [copy.doubtUntil] : []),
    ...(copy.leftAt !== null && hasMessages(copy) ? [copy.leftAt + KEPT] : []),
  ]);
  if (connection.is === "down" || connection.is === "opening") due.push(connection.since + BANNER);
  const ahead = due.filter((each) => each > state.now);
  return ahead.length > 0 ? Math.min(...ahead) : null;
}

/** The contexts to hear of. */
export function followed(state: State): string[] {
  return Object.values(state.contexts)
    .filter((copy) => !copy.isGone)
    .map((copy) => copy.id)
    .sort();
}
