/** How high the rows of a list are, and where each begins: measured where a row was drawn, guessed elsewhere. */
export class Heights<T extends { readonly id: string }> {
  private readonly known = new Map<string, number>();
  private readonly places = new Map<string, number>();
  private stored: readonly T[] = [];
  private end: readonly T[] = [];
  private readonly sizes: number[] = [];
  private readonly tops: number[] = [0];

  constructor(private readonly guess: (row: T) => number) {}

  /** `stored` changes seldom, `end` with every piece of an answer: only the end is looked at then. */
  take(stored: readonly T[], end: readonly T[]): void {
    const isSame = stored === this.stored;
    if (isSame) for (const row of this.end) this.places.delete(row.id);
    else this.places.clear();
    this.stored = stored;
    this.end = end;
    const from = isSame ? stored.length : 0;
    for (let index = from; index < this.count; index++) {
      const row = this.rowAt(index);
      if (row === undefined) continue;
      this.places.set(row.id, index);
      this.sizes[index] = this.known.get(row.id) ?? this.guess(row);
    }
    this.add(from);
  }

  private add(from: number): void {
    for (let index = from; index < this.count; index++) {
      this.tops[index + 1] = this.top(index) + (this.sizes[index] ?? 0);
    }
  }

  /** Gives whether that is news. */
  measured(id: string, height: number): boolean {
    if (this.known.get(id) === height) return false;
    this.known.set(id, height);
    const place = this.places.get(id);
    if (place === undefined) return false;
    this.sizes[place] = height;
    this.add(place);
    return true;
  }

  get count(): number {
    return this.stored.length + this.end.length;
  }

  get total(): number {
    return this.top(this.count);
  }

  /** Where a row begins. */
  top(index: number): number {
    return this.tops[index] ?? 0;
  }

  rowAt(index: number): T | undefined {
    return index < this.stored.length ? this.stored[index] : this.end[index - this.stored.length];
  }

  indexOf(id: string): number | undefined {
    return this.places.get(id);
  }

  /** From here on, rows are at the end: they are always drawn. */
  get endsAt(): number {
    return this.stored.length;
  }

  /** The row that covers this place; the first or last one, where there is none. */
  indexAt(place: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
