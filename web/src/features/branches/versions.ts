/** The versions of a message: what stands in its place on other branches. Pure, so that a panel can grow from it. */
import type { BranchShape, ContextShape } from "../../api/schema";

export interface Version {
  /** The branch to switch to. */
  readonly branch: string;
  /** The first message that is different there. */
  readonly messageId: string;
}

/** A place of the active branch at which others go on differently. */
export interface Versions {
  /** The first message that is different, on the active branch. */
  readonly messageId: string;
  /** All versions, oldest first, that of the active branch among them. */
  readonly all: readonly Version[];
  /** Which of them the active branch has. */
  readonly present: number;
}

type Forked = BranchShape & { readonly fork: NonNullable<BranchShape["fork"]> };

/** The places of the active branch that have versions, in its order. */
export function versionsOf({ active_branch, branches }: Pick<ContextShape, "active_branch" | "branches">): Versions[] {
  const active = branches[active_branch];
  const forked = Object.values(branches).filter((branch): branch is Forked => branch.fork != null);
  if (active === undefined) return [];
  const positions = [...new Set(forked.map(({ fork }) => fork.position))].sort((one, other) => one - other);
  return positions.map((position) => {
    const here = forked.filter(({ fork }) => fork.position === position);
    // Branches that depart later have the same message here: the oldest of them says how old it is.
    const alike = forked.filter(({ fork }) => fork.position > position).map(({ created_at }) => created_at);
    const own = { branch: active_branch, messageId: here[0]?.fork.message_id ?? "" };
    const dated = [{ ...own, since: [active.created_at, ...alike].sort()[0] ?? "" }, ...othersOf(here)].sort(
      (one, other) => one.since.localeCompare(other.since),
    );
    const all = dated.map(({ branch, messageId }) => ({ branch, messageId }));
    return { messageId: own.messageId, all, present: all.findIndex(({ branch }) => branch === active_branch) };
  });
}

/** One for each message that stands there. Of several branches that have it, the one made last is shown. */
function othersOf(forked: readonly Forked[]): (Version & { since: string })[] {
  const groups = new Map<string, Forked[]>();
  for (const branch of forked) {
    const { sibling_id: id } = branch.fork;
    groups.set(id, [...(groups.get(id) ?? []), branch]);
  }
  return [...groups].map(([messageId, group]) => {
    const byAge = [...group].sort((one, other) => one.created_at.localeCompare(other.created_at));
    return { messageId, branch: byAge.at(-1)?.name ?? "", since: byAge[0]?.created_at ?? "" };
  });
}

interface Line {
  readonly id: string;
  readonly kind: string;
  readonly messages?: readonly { readonly message_id: string }[];
}

/**
 * The line that shows each place: that of its message, or the next thing that was said, where it is only a mark (a switch
 * of the mode that went with the message).
 */
export function versionsByLine(lines: readonly Line[], places: readonly Versions[]): ReadonlyMap<string, Versions> {
  const found = new Map<string, Versions>();
  for (const place of places) {
    const index = lines.findIndex(
      ({ id, messages }) => id === place.messageId || messages?.some((each) => each.message_id === place.messageId),
    );
    const line = index < 0 ? undefined : (lines.slice(index).find(({ kind }) => kind !== "mark") ?? lines[index]);
    if (line !== undefined) found.set(line.id, place);
  }
  return found;
}
