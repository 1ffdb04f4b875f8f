/** A half-open range of row indexes: [from, to). */
export type IndexRange = readonly [number, number];

export function mergeRanges(ranges: readonly IndexRange[]): readonly IndexRange[] {
  const merged: IndexRange[] = [];
  for (const [from, to] of ranges.filter(([a, b]) => a < b).sort(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], to)];
    else merged.push([from, to]);
  }
  return merged;
}
