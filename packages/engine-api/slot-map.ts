/** An empty map keeps at most this many slots. */
const KEPT_SLOTS = 1024;

/**
 * A map for short-lived entries such as running requests and calls in flight. Insertion
 * order, as `Map`.
 *
 * V8 replaces the table of a `Map` from time to time and links the old table to the new
 * one. Once a table is in old space, each minor collection finds the next table, with all
 * its former entries, reachable: entries of a long-lived `Map` survive until the next
 * major collection and are copied meanwhile. Here the table holds small integers, so a
 * deleted value is unreachable at once.
 */
export class SlotMap<K extends string | number, V> {
  readonly #slots = new Map<K, number>();
  readonly #values: (V | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.size;
  }

  has(key: K): boolean {
    return this.#slots.has(key);
  }

  get(key: K): V | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : this.#values[slot];
  }

  /** An existing key keeps its position. */
  set(key: K, value: V): this {
    let slot = this.#slots.get(key);
    if (slot === undefined) this.#slots.set(key, (slot = this.#free.pop() ?? this.#values.length));
    this.#values[slot] = value;
    return this;
  }

  /** @returns false if the key does not exist */
  delete(key: K): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#slots.delete(key);
    this.#values[slot] = undefined;
    this.#free.push(slot);
    if (this.#slots.size === 0 && this.#values.length > KEPT_SLOTS)
      this.#values.length = this.#free.length = 0;
    return true;
  }

  /** The oldest key. */
  get firstKey(): K | undefined {
    const first = this.#slots.keys().next();
    return first.done ? undefined : first.value;
  }

  keys(): MapIterator<K> {
    return this.#slots.keys();
  }

  *values(): Generator<V> {
    for (const slot of this.#slots.values()) yield this.#values[slot] as V;
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, slot] of this.#slots) yield [key, this.#values[slot] as V];
  }
}
