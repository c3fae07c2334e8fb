import { SlotMap } from '@switchyard/engine-api/slot-map.js';

/** The latest `limit` entries by key, for example requests that ended recently. */
export class RecentMap<V, K extends string = string> {
  readonly #entries = new SlotMap<K, V>();

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** An existing key becomes the youngest. */
  add(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.limit) this.#dropFirst();
  }

  /** Oldest first. */
  values(): Generator<V> {
    return this.#entries.values();
  }

  /** Drops the oldest entries while `isOver`. @returns their number; O(dropped) */
  dropWhile(isOver: (value: V) => boolean): number {
    let dropped = 0;
    for (const value of this.#entries.values()) {
      if (!isOver(value)) break;
      this.#dropFirst();
      dropped += 1;
    }
    return dropped;
  }

  #dropFirst(): void {
    const { firstKey } = this.#entries;
    if (firstKey !== undefined) this.#entries.delete(firstKey);
  }
}
