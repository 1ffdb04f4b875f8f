/** A virtual list: renders only the visible rows, and keeps its position while another conversation is selected. */
import { DisclosureState } from "./disclosureState";
import { RowHeights } from "./rowHeights";
import { RetainedRows } from "./retainedRows";
import { Scroller } from "./scroller";
import { type IndexRange, mergeRanges } from "./indexRanges";

const NEAR_START_PX = 1_500;

export interface ListStatus {
  /** Whether the end is out of sight and not followed. */
  readonly isAway: boolean;
  /** The number of rows added at the end since it was last followed. */
  readonly newRows: number;
  readonly isNearStart: boolean;
  /** The index of the row at the upper edge. */
  readonly first: number;
}

export class VirtualList<T extends { readonly id: string }> {
  readonly heights: RowHeights<T>;
  readonly scroller: Scroller<T>;
  private readonly retained = new RetainedRows();
  private readonly disclosure = new DisclosureState();
  /** The last stored row and the number of rows after it, when the end was last followed. */
  private lastFollowed: { readonly id: string | undefined; readonly behind: number } = { id: undefined, behind: 0 };

  constructor(estimate: (row: T) => number) {
    this.heights = new RowHeights(estimate);
    this.scroller = new Scroller(this.heights);
  }

  attach(element: HTMLElement): () => void {
    const undo = [this.scroller, this.retained, this.disclosure].map((each) => each.attach(element));
    return () => undo.forEach((each) => each());
  }

  /** Registers a mounted row. Returns a function to call when it is unmounted. */
  attachRow(id: string, row: HTMLElement): () => void {
    this.disclosure.restore(id, row);
    return this.scroller.attachRow(id, row);
  }

  /** The ranges of rows to render. Trailing rows are always included. */
  rangesToRender(): readonly IndexRange[] {
    const { heights, retained, scroller } = this;
    return mergeRanges([
      scroller.range(),
      ...retained.ranges((id) => heights.indexOf(id)),
      [heights.trailingStart, heights.count],
    ]);
  }

  status(): ListStatus {
    const { heights, scroller } = this;
    if (scroller.isPinned)
      this.lastFollowed = {
        id: heights.rowAt(heights.trailingStart - 1)?.id,
        behind: heights.count - heights.trailingStart,
      };
    const lastFollowed = this.lastFollowed.id === undefined ? undefined : heights.indexOf(this.lastFollowed.id);
    return {
      isAway: !scroller.isPinned && scroller.distanceToEnd > 1,
      newRows:
        lastFollowed === undefined ? 0 : Math.max(0, heights.count - 1 - lastFollowed - this.lastFollowed.behind),
      isNearStart: scroller.top() < NEAR_START_PX,
      first: scroller.first,
    };
  }
}
