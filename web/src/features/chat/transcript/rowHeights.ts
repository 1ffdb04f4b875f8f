/** Heights and offsets of the rows: measured for mounted rows, estimated for others. */
export class RowHeights<T extends { readonly id: string }> {
  private readonly measuredHeights = new Map<string, number>();
  private readonly indexById = new Map<string, number>();
  private stored: readonly T[] = [];
  private trailing: readonly T[] = [];
  private readonly sizes: number[] = [];
  private readonly tops: number[] = [0];

  constructor(private readonly estimate: (row: T) => number) {}

  /**
   * Sets the rows. `stored` changes seldom and `trailing` with every delta: then only the trailing rows are updated.
   */
  setRows(stored: readonly T[], trailing: readonly T[]): void {
    const isSame = stored === this.stored;
    if (isSame) for (const row of this.trailing) this.indexById.delete(row.id);
    else this.indexById.clear();
    this.stored = stored;
    this.trailing = trailing;
    const from = isSame ? stored.length : 0;
    for (let index = from; index < this.count; index++) {
      const row = this.rowAt(index);
      if (row === undefined) continue;
      this.indexById.set(row.id, index);
      this.sizes[index] = this.measuredHeights.get(row.id) ?? this.estimate(row);
    }
    this.updateTops(from);
  }

  private updateTops(from: number): void {
    for (let index = from; index < this.count; index++) {
      this.tops[index + 1] = this.top(index) + (this.sizes[index] ?? 0);
    }
  }

  /** Stores a measured height. Returns whether it changed. */
  setMeasured(id: string, height: number): boolean {
    if (this.measuredHeights.get(id) === height) return false;
    this.measuredHeights.set(id, height);
    const index = this.indexById.get(id);
    if (index === undefined) return false;
    this.sizes[index] = height;
    this.updateTops(index);
    return true;
  }

  get count(): number {
    return this.stored.length + this.trailing.length;
  }

  get total(): number {
    return this.top(this.count);
  }

  /** The offset of a row from the first row. */
  top(index: number): number {
    return this.tops[index] ?? 0;
  }

  rowAt(index: number): T | undefined {
    return index < this.stored.length ? this.stored[index] : this.trailing[index - this.stored.length];
  }

  indexOf(id: string): number | undefined {
    return this.indexById.get(id);
  }

  /** The index of the first trailing row. Trailing rows are always rendered. */
  get trailingStart(): number {
    return this.stored.length;
  }

  /** The index of the row at an offset, clamped to the list. */
  indexAt(y: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
