/**
 * The row ranges of a text that were on the screen. Positions are rows from the start; fractions are parts of a row.
 */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Tolerance for rounding errors between two ranges, smaller than any visible part of a row. */
const ROUNDING_TOLERANCE_ROWS = 1e-6;

export class Coverage {
  /** Sorted and disjoint. Continuous reading extends a range; a jump adds one. */
  #ranges: readonly RowRange[] = [];

  add({ from, to }: RowRange): void {
    if (to <= from) return;
    const before = this.#ranges.filter((each) => each.to < from - ROUNDING_TOLERANCE_ROWS);
    const after = this.#ranges.filter((each) => each.from > to + ROUNDING_TOLERANCE_ROWS);
    const overlapping = this.#ranges.slice(before.length, this.#ranges.length - after.length);
    const merged = {
      from: Math.min(from, overlapping[0]?.from ?? from),
      to: Math.max(to, overlapping.at(-1)?.to ?? to),
    };
    this.#ranges = [...before, merged, ...after];
  }

  /** The ranges within the given number of rows that were not on the screen. */
  gaps(rows: number): readonly RowRange[] {
    const gaps: RowRange[] = [];
    let from = 0;
    for (const each of this.#ranges) {
      if (from >= rows) break;
      if (each.from > from + ROUNDING_TOLERANCE_ROWS) gaps.push({ from, to: Math.min(each.from, rows) });
      from = each.to;
    }
    if (from < rows - ROUNDING_TOLERANCE_ROWS) gaps.push({ from, to: rows });
    return gaps;
  }
}

export function intersection(a: RowRange | null, b: RowRange | null): RowRange | null {
  if (a === null || b === null) return null;
  const from = Math.max(a.from, b.from);
  const to = Math.min(a.to, b.to);
  return from < to ? { from, to } : null;
}

/** The number of lines in the gaps, including partly covered lines. A line of several rows counts once. */
export function linesInGaps(gaps: readonly RowRange[], lineOf: (row: number) => number): number {
  let count = 0;
  let lastCounted = -1;
  for (const { from, to } of gaps) {
    const first = Math.max(lineOf(Math.floor(from + ROUNDING_TOLERANCE_ROWS)), lastCounted + 1);
    const last = lineOf(Math.ceil(to - ROUNDING_TOLERANCE_ROWS) - 1);
    count += Math.max(0, last - first + 1);
    lastCounted = Math.max(lastCounted, last);
  }
  return count;
}
