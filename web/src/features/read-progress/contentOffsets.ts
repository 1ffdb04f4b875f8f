/** A place on the screen, in pixels from the top of the window. */
interface VerticalSpan {
  readonly top: number;
  readonly bottom: number;
}

/**
 * What of a text stands around its boxes of rows: notes, names, short arguments. Places in it are pixels from its
 * beginning, as if the boxes had no height: rows are counted by themselves, and a box of many rows changes its height
 * while more of them are drawn.
 */
export class ContentOffsets {
  readonly #boxes: readonly VerticalSpan[];

  constructor(
    readonly root: VerticalSpan,
    boxes: readonly VerticalSpan[],
  ) {
    this.#boxes = [...boxes].sort((one, other) => one.top - other.top);
  }

  get length(): number {
    return this.offsetAt(this.root.bottom);
  }

  /** The place in the flow of a place on the screen. Inside a box it is where the box stands. */
  offsetAt(y: number): number {
    const clamped = Math.min(this.root.bottom, Math.max(this.root.top, y));
    const inBoxes = this.#boxes.map(({ top, bottom }) => Math.max(0, Math.min(clamped, bottom) - top));
    return inBoxes.reduce((rest, height) => rest - height, clamped - this.root.top);
  }

  /** The place on the screen of a place in the flow. Where a box stands it is behind that box. */
  screenY(offsetAt: number): number {
    const before = this.#boxes.filter(({ top }) => this.offsetAt(top) <= offsetAt);
    return before.reduce((y, { top, bottom }) => y + bottom - top, this.root.top + offsetAt);
  }
}
