/** Which stretches of a text have been on the screen. Places are rows from its beginning, a part of a row is a fraction. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Smaller than any row that can be seen: what is left between two stretches by rounding is no gap. */
const ROUNDING = 1e-6;

export class Coverage {
  /** In order, and apart from each other. Reading on makes one longer; only a jump adds one. */
  #ranges: readonly RowRange[] = [];

  add({ from, to }: RowRange): void {
    if (to <= from) return;
    const before = this.#ranges.filter((each) => each.to < from - ROUNDING);
    const after = this.#ranges.filter((each) => each.from > to + ROUNDING);
    const overlapping = this.#ranges.slice(before.length, this.#ranges.length - after.length);
    const merged = {
      from: Math.min(from, overlapping[0]?.from ?? from),
      to: Math.max(to, overlapping.at(-1)?.to ?? to),
    };
    this.#ranges = [...before, merged, ...after];
  }

  /** What of so many rows has not been on the screen yet. */
  gaps(rows: number): readonly RowRange[] {
    const gaps: RowRange[] = [];
    let from = 0;
    for (const each of this.#ranges) {
      if (from >= rows) break;
      if (each.from > from + ROUNDING) gaps.push({ from, to: Math.min(each.from, rows) });
      from = each.to;
    }
    if (from < rows - ROUNDING) gaps.push({ from, to: rows });
    return gaps;
  }
}

export function intersection(one: RowRange | null, other: RowRange | null): RowRange | null {
  if (one === null || other === null) return null;
  const from = Math.max(one.from, other.from);
  const to = Math.min(one.to, other.to);
  return from < to ? { from, to } : null;
}

/** How many lines lie in these gaps, at least in part. A long line has several rows: it counts once. */
export function linesInGaps(gaps: readonly RowRange[], lineOf: (row: number) => number): number {
  let count = 0;
  let counted = -1;
  for (const { from, to } of gaps) {
    const first = Math.max(lineOf(Math.floor(from + ROUNDING)), counted + 1);
    const last = lineOf(Math.ceil(to - ROUNDING) - 1);
    count += Math.max(0, last - first + 1);
    counted = Math.max(counted, last);
  }
  return count;
}
