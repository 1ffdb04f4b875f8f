/** Which rows are drawn, as spans that do not touch; a span goes up to its second number, without it. */
export type Span = readonly [number, number];

export function joined(spans: readonly Span[]): readonly Span[] {
  const found: Span[] = [];
  for (const [from, to] of spans.filter(([one, other]) => one < other).sort(([one], [other]) => one - other)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last[1]) found[found.length - 1] = [last[0], Math.max(last[1], to)];
    else found.push([from, to]);
  }
  return found;
}
