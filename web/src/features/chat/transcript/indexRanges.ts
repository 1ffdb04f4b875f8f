/** A half-open range of row indexes: [from, to). */
export type IndexRange = readonly [number, number];

export function mergeRanges(ranges: readonly IndexRange[]): readonly IndexRange[] {
  const merged: IndexRange[] = [];
  for (const [from, to] of ranges.filter(([one, other]) => one < other).sort(([one], [other]) => one - other)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], to)];
    else merged.push([from, to]);
  }
  return merged;
}
