/** The order of tabs: after one was moved, and as somebody wanted it when there are others meanwhile. */

/** With the one at `from` at the place `to`. A place beyond the ends is the end. */
export function moved<T>(items: readonly T[], from: number, to: number): readonly T[] {
  const item = items[from];
  if (item === undefined) return items;
  const rest = items.filter((_, index) => index !== from);
  const place = Math.max(0, Math.min(to, rest.length));
  return [...rest.slice(0, place), item, ...rest.slice(place)];
}

/** In the order of `ids`. Those that it does not name stay behind them, as they were. */
export function inOrder<T>(items: readonly T[], ids: readonly string[], idOf: (item: T) => string): readonly T[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  const placeOf = (item: T) => places.get(idOf(item)) ?? ids.length;
  return [...items].sort((one, other) => placeOf(one) - placeOf(other));
}
