/** Derives the missing data (pulls) and the next timer from the state. */
import { isComplete } from "./branch";
import type { Pull } from "./events";
import { MESSAGE_CACHE_MS, hasMessages } from "./reduce";
import { memoizeByParts } from "./structuralSharing";
import { type ContextReplica, MESSAGES_PER_PAGE, type State, activeId, isStale } from "./state";

/** How long a connection may be down before the banner shows. */
export const BANNER_DELAY_MS = 3_000;

/** The pulls that bring the state up to date, most urgent first. */
export function wants(state: State): Pull[] {
  if (state.connection.status === "refused") return [];
  const active = activeId(state);
  const replicas = Object.values(state.contexts).filter((replica) => !replica.isGone);
  replicas.sort((a, b) => Number(b.id === active) - Number(a.id === active));
  const session: Pull[] = isStale(state.session) ? [{ kind: "session" }] : [];
  return [
    ...session,
    ...replicas.flatMap((replica) => [
      ...(replica.id === active ? wantsMessages(replica) : []),
      ...wantsContext(state, replica),
    ]),
  ];
}

function wantsContext(state: State, replica: ContextReplica): Pull[] {
  const isStateUncertain = replica.recheckAt !== null && state.now >= replica.recheckAt;
  return isStale(replica.view) || isStateUncertain ? [{ kind: "context", id: replica.id }] : [];
}

function wantsMessages(replica: ContextReplica): Pull[] {
  const { id, branch, view } = replica;
  const pulls: Pull[] = Object.values(replica.streaming)
    .filter((message) => message.total > message.sequence && isStale(message))
    .map((message) => ({ kind: "text", id, message: message.id, from: message.sequence }));
  const ids = missingIds(replica);
  if (ids.length > 0) pulls.push({ kind: "messages", id, ids });
  const isUnlisted = branch.ids.length === 0; // a view does not list the ids of every branch
  // Wait for the view if it is stale: after a recreated branch, the old position would be requested again and again.
  if (view.value !== null && !isStale(view) && branch.firstPosition > 0 && (replica.wantsOlder || isUnlisted)) {
    pulls.push({ kind: "older", id, branch: view.value.active_branch, before: branch.firstPosition });
  }
  return pulls;
}

/** Memoized: deltas of an answer do not change the inputs. */
const missingIds = memoizeByParts(
  ({ branch, messages, view }: ContextReplica) => [branch.ids, messages, view.requestedAt],
  (replica) => replica.branch.ids.filter((id) => isMissing(replica, id)).slice(0, MESSAGES_PER_PAGE),
);

/** Unfinished messages count as missing after each fetch of their context. */
function isMissing(replica: ContextReplica, id: string): boolean {
  const cached = replica.messages[id];
  if (cached === undefined || isStale(cached)) return true;
  return (cached.message === null || !isComplete(cached.message)) && replica.view.requestedAt > cached.requestedAt;
}

/** When the next timer is due, or null. */
export function nextDue(state: State): number | null {
  const { connection } = state;
  const due = Object.values(state.contexts).flatMap((replica) => [
    ...(replica.recheckAt !== null ? [replica.recheckAt] : []),
    ...(replica.inactiveSince !== null && hasMessages(replica) ? [replica.inactiveSince + MESSAGE_CACHE_MS] : []),
  ]);
  if (connection.status === "down" || connection.status === "opening") due.push(connection.since + BANNER_DELAY_MS);
  const upcoming = due.filter((each) => each > state.now);
  return upcoming.length > 0 ? Math.min(...upcoming) : null;
}

/** The contexts whose signals the client subscribes to. */
export function followedContexts(state: State): string[] {
  return Object.values(state.contexts)
    .filter((replica) => !replica.isGone)
    .map((replica) => replica.id)
    .sort();
}
