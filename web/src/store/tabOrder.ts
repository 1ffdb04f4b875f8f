/** Reorders tabs. */

/** Moves the item at `from` to the index `to`, clamped to the list. */
export function moveItem<T>(items: readonly T[], from: number, to: number): readonly T[] {
  const item = items[from];
  if (item === undefined) return items;
  const rest = items.filter((_, index) => index !== from);
  const position = Math.max(0, Math.min(to, rest.length));
  return [...rest.slice(0, position), item, ...rest.slice(position)];
}

/** Sorts items in the order of `ids`. Items that `ids` does not contain follow in their old order. */
export function sortByIds<T>(items: readonly T[], ids: readonly string[], idOf: (item: T) => string): readonly T[] {
  const positions = new Map(ids.map((id, position) => [id, position]));
  const positionOf = (item: T) => positions.get(idOf(item)) ?? ids.length;
  return [...items].sort((a, b) => positionOf(a) - positionOf(b));
}
