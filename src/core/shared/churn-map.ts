/** Slots that an empty map keeps; more are given back. */
const KEPT_SLOTS = 1024;

/**
 * A map for entries that come and go all the time: requests that run, calls in flight. As `Map`, in order of insertion.
 *
 * V8 replaces the table of a `Map` every so often and links the old one to the new. Once a table is in old space, each minor
 * collection finds the next one reachable from it, with all that was inside: whatever passes through a plain `Map` that lives
 * long survives until the next major collection, and is copied on the way. Here the table holds small integers, and a value is out of
 * reach the moment it is deleted.
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

  /** A known key keeps its place. */
  set(key: K, value: V): this {
    let slot = this.#slots.get(key);
    if (slot === undefined) this.#slots.set(key, (slot = this.#free.pop() ?? this.#values.length));
    this.#values[slot] = value;
    return this;
  }

  /** False when the key is not there. */
  delete(key: K): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#slots.delete(key);
    this.#values[slot] = undefined;
    this.#free.push(slot);
    if (this.#slots.size === 0 && this.#values.length > KEPT_SLOTS) this.#values.length = this.#free.length = 0;
    return true;
  }

  /** The one that has been here longest. */
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
