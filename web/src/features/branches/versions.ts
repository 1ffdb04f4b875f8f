/** The versions of a message: the messages in its place on other branches. Pure, without rows or requests. */
import type { BranchView, ContextView } from "../../api/schema";

interface Version {
  /** The branch to switch to. */
  readonly branch: string;
  /** The first message that differs on that branch. */
  readonly messageId: string;
}

/** A position of the active branch at which other branches diverge. */
export interface MessageVersions {
  /** The first message that differs, on the active branch. */
  readonly messageId: string;
  /** All versions including the active one, oldest first. */
  readonly all: readonly Version[];
  /** The index of the active branch's version. */
  readonly currentIndex: number;
}

type ForkedBranch = BranchView & { readonly fork: NonNullable<BranchView["fork"]> };

/** The positions of the active branch that have versions, in order. */
export function versionsOf({
  active_branch,
  branches,
}: Pick<ContextView, "active_branch" | "branches">): MessageVersions[] {
  const active = branches[active_branch];
  const forked = Object.values(branches).filter((branch): branch is ForkedBranch => branch.fork != null);
  if (active === undefined) return [];
  const positions = [...new Set(forked.map(({ fork }) => fork.position))].sort((a, b) => a - b);
  return positions.map((position) => {
    const siblings = forked.filter(({ fork }) => fork.position === position);
    // Branches that fork later share this message; the oldest of them dates it.
    const laterForks = forked.filter(({ fork }) => fork.position > position).map(({ created_at }) => created_at);
    const current = { branch: active_branch, messageId: siblings[0]?.fork.message_id ?? "" };
    const dated = [
      { ...current, since: [active.created_at, ...laterForks].sort()[0] ?? "" },
      ...siblingVersions(siblings),
    ].sort((a, b) => a.since.localeCompare(b.since));
    const all = dated.map(({ branch, messageId }) => ({ branch, messageId }));
    return { messageId: current.messageId, all, currentIndex: all.findIndex(({ branch }) => branch === active_branch) };
  });
}

/** A version per sibling message. If several branches contain the message, the newest branch is chosen. */
function siblingVersions(forked: readonly ForkedBranch[]): (Version & { since: string })[] {
  const groups = new Map<string, ForkedBranch[]>();
  for (const branch of forked) {
    const { sibling_id: id } = branch.fork;
    groups.set(id, [...(groups.get(id) ?? []), branch]);
  }
  return [...groups].map(([messageId, group]) => {
    const byAge = [...group].sort((a, b) => a.created_at.localeCompare(b.created_at));
    return { messageId, branch: byAge.at(-1)?.name ?? "", since: byAge[0]?.created_at ?? "" };
  });
}

interface VersionedRow {
  readonly id: string;
  readonly kind: string;
  readonly messages?: readonly { readonly message_id: string }[];
}

/**
 * Assigns each set of versions to a row: the row of its message, or the next row if that is a mere notice (for example
 * a mode switch that was sent with the message).
 */
export function versionsByRow(
  rows: readonly VersionedRow[],
  versionSets: readonly MessageVersions[],
): ReadonlyMap<string, MessageVersions> {
  const byRow = new Map<string, MessageVersions>();
  for (const versions of versionSets) {
    const index = rows.findIndex(
      ({ id, messages }) =>
        id === versions.messageId || messages?.some((each) => each.message_id === versions.messageId),
    );
    const row = index < 0 ? undefined : (rows.slice(index).find(({ kind }) => kind !== "notice") ?? rows[index]);
    if (row !== undefined) byRow.set(row.id, versions);
  }
  return byRow;
}
