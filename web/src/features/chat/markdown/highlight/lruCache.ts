/** A size-limited cache that evicts the least recently used entry first. */
export class SizedLruCache<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly size: number }>();
  readonly #maxSize: number;
  #size = 0;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: T, size: number): void {
    this.#size += size - (this.#entries.get(key)?.size ?? 0);
    this.#entries.delete(key);
    this.#entries.set(key, { value, size });
    for (const [oldest, entry] of this.#entries) {
      if (this.#size <= this.#maxSize) break;
      this.#entries.delete(oldest);
      this.#size -= entry.size;
    }
  }
}
