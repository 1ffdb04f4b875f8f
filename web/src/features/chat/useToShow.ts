/** Brings a line into view, once. On a branch that was switched to, older messages are loaded until it is there. */
import { useEffect } from "react";
import { useCell } from "../../app/cell";
import { useSlice } from "../../app/page";
import type { State } from "../../store/state";
import { toShow } from "./editing";
import type { Row } from "./rows";

/** Gives whether older messages are needed for it. */
export function useToShow(
  context: string,
  rows: readonly Row[],
  hasOlder: boolean,
  show: (row: string) => void,
): boolean {
  const wanted = useCell(toShow);
  const branch = useSlice((state) => shownBranch(state, context), [context]);
  const isMeant = wanted !== null && wanted.context === context && (wanted.branch ?? branch) === branch;
  const row = isMeant ? (rows.find((each) => holds(each, wanted.id))?.id ?? null) : null;
  const isMissing = isMeant && row === null;
  useEffect(() => {
    if (!isMeant || (isMissing && hasOlder)) return;
    if (row !== null) show(row);
    toShow.set(null);
  }, [isMeant, row, isMissing, hasOlder]);
  return isMissing;
}

/** The branch whose messages are shown: for a moment after a switch, still the old one. */
function shownBranch(state: State, context: string): string | null {
  const copy = state.contexts[context];
  const branches = Object.values(copy?.shape.value?.branches ?? {});
  return branches.find(({ key }) => key === copy?.shown.key)?.name ?? null;
}

function holds(row: Row, id: string): boolean {
  return row.id === id || (row.kind === "said" && row.messages.some((each) => each.message_id === id));
}
