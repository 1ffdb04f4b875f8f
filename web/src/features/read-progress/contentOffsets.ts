/** A vertical range on the screen, in pixels from the top of the window. */
interface VerticalSpan {
  readonly top: number;
  readonly bottom: number;
}

/**
 * Offsets in the content around the row boxes of a text: notes, names, short arguments. Offsets are pixels from the
 * start, as if the boxes had no height: rows are tracked separately, and a virtualized box changes its height while
 * rows are rendered.
 */
export class ContentOffsets {
  readonly #boxes: readonly VerticalSpan[];

  constructor(
    readonly root: VerticalSpan,
    boxes: readonly VerticalSpan[],
  ) {
    this.#boxes = [...boxes].sort((a, b) => a.top - b.top);
  }

  get length(): number {
    return this.offsetAt(this.root.bottom);
  }

  /** Converts a screen position to an offset. All positions inside a box have the offset of the box. */
  offsetAt(y: number): number {
    const clamped = Math.min(this.root.bottom, Math.max(this.root.top, y));
    const inBoxes = this.#boxes.map(({ top, bottom }) => Math.max(0, Math.min(clamped, bottom) - top));
    return inBoxes.reduce((rest, height) => rest - height, clamped - this.root.top);
  }

  /** Converts an offset to a screen position. The offset of a box yields the position below the box. */
  screenY(offsetAt: number): number {
    const before = this.#boxes.filter(({ top }) => this.offsetAt(top) <= offsetAt);
    return before.reduce((y, { top, bottom }) => y + bottom - top, this.root.top + offsetAt);
  }
}
