/** A long list of which only what is seen is drawn. What it knows of a conversation is there when somebody comes back. */
import { Disclosed } from "./disclosed";
import { Heights } from "./heights";
import { Kept } from "./kept";
import { Scroller } from "./scroller";
import { type Span, joined } from "./spans";

const NEAR_START = 1_500;

export interface Status {
  /** The end is out of sight, and is not followed. */
  readonly isAway: boolean;
  /** So many rows came at the end since it was last followed. */
  readonly newRows: number;
  readonly isNearStart: boolean;
  /** The row at the upper edge. */
  readonly first: number;
}

export class List<T extends { readonly id: string }> {
  readonly heights: Heights<T>;
  readonly scroller: Scroller<T>;
  private readonly kept = new Kept();
  private readonly disclosed = new Disclosed();
  /** The last stored row when the end was last followed, and how many rows stood behind it. */
  private last: { readonly id: string | undefined; readonly behind: number } = { id: undefined, behind: 0 };

  constructor(guess: (row: T) => number) {
    this.heights = new Heights(guess);
    this.scroller = new Scroller(this.heights);
  }

  attach(element: HTMLElement): () => void {
    const undo = [this.scroller, this.kept, this.disclosed].map((each) => each.attach(element));
    return () => undo.forEach((each) => each());
  }

  /** A row was drawn. Gives what is done when it is drawn no longer. */
  drawn(id: string, row: HTMLElement): () => void {
    this.disclosed.restore(id, row);
    return this.scroller.drawn(id, row);
  }

  /** The rows that are to be drawn now. Those at the end always are. */
  wanted(): readonly Span[] {
    const { heights, kept, scroller } = this;
    return joined([scroller.range(), ...kept.spans((id) => heights.indexOf(id)), [heights.endsAt, heights.count]]);
  }

  status(): Status {
    const { heights, scroller } = this;
    if (scroller.isPinned)
      this.last = { id: heights.rowAt(heights.endsAt - 1)?.id, behind: heights.count - heights.endsAt };
    const last = this.last.id === undefined ? undefined : heights.indexOf(this.last.id);
    return {
      isAway: !scroller.isPinned && scroller.left > 1,
      newRows: last === undefined ? 0 : Math.max(0, heights.count - 1 - last - this.last.behind),
      isNearStart: scroller.top() < NEAR_START,
      first: scroller.first,
    };
  }
}
