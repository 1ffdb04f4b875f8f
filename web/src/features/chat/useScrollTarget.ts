/** Scrolls to the target row once. After a branch switch, loads older messages until the row is there. */
import { useEffect } from "react";
import { useAtom } from "../../app/atom";
import { useSelector } from "../../app/appServices";
import type { State } from "../../store/state";
import { scrollTarget } from "./messageEdit";
import type { Row } from "./transcript/rows";

/** Returns whether older messages are needed to reach the target. */
export function useScrollTarget(
  context: string,
  rows: readonly Row[],
  hasOlder: boolean,
  show: (row: string) => void,
): boolean {
  const target = useAtom(scrollTarget);
  const branch = useSelector((state) => shownBranch(state, context), [context]);
  const isForThisBranch = target !== null && target.context === context && (target.branch ?? branch) === branch;
  const row = isForThisBranch ? (rows.find((each) => containsMessage(each, target.id))?.id ?? null) : null;
  const isMissing = isForThisBranch && row === null;
  useEffect(() => {
    if (!isForThisBranch || (isMissing && hasOlder)) return;
    if (row !== null) show(row);
    scrollTarget.set(null);
  }, [isForThisBranch, row, isMissing, hasOlder]);
  return isMissing;
}

/** The branch whose messages are shown. Right after a switch, this is still the old branch. */
function shownBranch(state: State, context: string): string | null {
  const replica = state.contexts[context];
  const branches = Object.values(replica?.view.value?.branches ?? {});
  return branches.find(({ key }) => key === replica?.shown.key)?.name ?? null;
}

function containsMessage(row: Row, id: string): boolean {
  return row.id === id || (row.kind === "user" && row.messages.some((each) => each.message_id === id));
}
