/** The versions of a message: what stands in its place on other branches. Pure, so that a panel can grow from it. */
import type { BranchView, ContextView } from "../../api/schema";

interface Version {
  /** The branch to switch to. */
  readonly branch: string;
  /** The first message that is different there. */
  readonly messageId: string;
}

/** A place of the active branch at which others go on differently. */
export interface MessageVersions {
  /** The first message that is different, on the active branch. */
  readonly messageId: string;
  /** All versions, oldest first, that of the active branch among them. */
  readonly all: readonly Version[];
  /** Which of them the active branch has. */
  readonly currentIndex: number;
}

type ForkedBranch = BranchView & { readonly fork: NonNullable<BranchView["fork"]> };

/** The places of the active branch that have versions, in its order. */
export function versionsOf({
  active_branch,
  branches,
}: Pick<ContextView, "active_branch" | "branches">): MessageVersions[] {
  const active = branches[active_branch];
  const forked = Object.values(branches).filter((branch): branch is ForkedBranch => branch.fork != null);
  if (active === undefined) return [];
  const positions = [...new Set(forked.map(({ fork }) => fork.position))].sort((one, other) => one - other);
  return positions.map((position) => {
    const siblings = forked.filter(({ fork }) => fork.position === position);
    // Branches that depart later have the same message here: the oldest of them says how old it is.
    const laterForks = forked.filter(({ fork }) => fork.position > position).map(({ created_at }) => created_at);
    const current = { branch: active_branch, messageId: siblings[0]?.fork.message_id ?? "" };
    const dated = [
      { ...current, since: [active.created_at, ...laterForks].sort()[0] ?? "" },
      ...siblingVersions(siblings),
    ].sort((one, other) => one.since.localeCompare(other.since));
    const all = dated.map(({ branch, messageId }) => ({ branch, messageId }));
    return { messageId: current.messageId, all, currentIndex: all.findIndex(({ branch }) => branch === active_branch) };
  });
}

/** One for each message that stands there. Of several branches that have it, the one made last is shown. */
function siblingVersions(forked: readonly ForkedBranch[]): (Version & { since: string })[] {
  const groups = new Map<string, ForkedBranch[]>();
  for (const branch of forked) {
    const { sibling_id: id } = branch.fork;
    groups.set(id, [...(groups.get(id) ?? []), branch]);
  }
  return [...groups].map(([messageId, group]) => {
    const byAge = [...group].sort((one, other) => one.created_at.localeCompare(other.created_at));
    return { messageId, branch: byAge.at(-1)?.name ?? "", since: byAge[0]?.created_at ?? "" };
  });
}

interface VersionedRow {
  readonly id: string;
  readonly kind: string;
  readonly messages?: readonly { readonly message_id: string }[];
}

/**
 * The line that shows each place: that of its message, or the next thing that was said, where it is only a mark (a switch
 * of the mode that went with the message).
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
