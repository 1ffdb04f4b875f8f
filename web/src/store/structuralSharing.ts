/**
 * Structural sharing: the parts of `fresh` that equal parts of `old` are replaced by those objects, so that comparisons
 * by identity detect unchanged parts.
 */
export function share<T>(old: unknown, fresh: T): T {
  if (Object.is(old, fresh)) return fresh;
  if (Array.isArray(old) && Array.isArray(fresh)) {
    const items = fresh.map((each, index) => share(old[index], each));
    const isSame = items.length === old.length && items.every((each, index) => Object.is(each, old[index]));
    return (isSame ? old : items) as T;
  }
  if (!isRecord(old) || !isRecord(fresh)) return fresh;
  const names = Object.keys(fresh);
  const parts = Object.fromEntries(names.map((name) => [name, share(old[name], fresh[name])]));
  const isSame =
    names.length === Object.keys(old).length && names.every((name) => name in old && parts[name] === old[name]);
  return (isSame ? old : parts) as T;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two values are equal when compared down to the given depth. */
export function isEqual(a: unknown, b: unknown, depth = 2): boolean {
  if (Object.is(a, b)) return true;
  if (depth === 0 || typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length || Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return names.every((name) => name in right && isEqual(left[name], right[name], depth - 1));
}

/** The record without the dropped entries; the same object if nothing is dropped. */
export function omit<T>(record: { readonly [name: string]: T }, isDropped: (name: string, value: T) => boolean) {
  const entries = Object.entries(record).filter(([name, value]) => !isDropped(name, value));
  return entries.length === Object.keys(record).length ? record : Object.fromEntries(entries);
}

/**
 * Memoizes `compute` by the identity of the parts of its argument. The cache holds one result per first part and is
 * collected with it.
 */
export function memoizeByParts<T, R>(
  partsOf: (from: T) => readonly [object, ...unknown[]],
  compute: (from: T) => R,
): (from: T) => R {
  const cache = new WeakMap<object, { parts: readonly unknown[]; answer: R }>();
  return (from) => {
    const parts = partsOf(from);
    const old = cache.get(parts[0]);
    if (old !== undefined && parts.every((part, index) => Object.is(part, old.parts[index]))) return old.answer;
    const answer = compute(from);
    cache.set(parts[0], { parts, answer });
    return answer;
  };
}
