/** Field that the heap stores in its members to find them without searching. */
export interface HeapItem {
  /** Index in the heap, -1 while outside. Only the heap writes it. */
  heapIndex: number;
}

/**
 * Binary min-heap by number with exact removal: put, re-key and remove in O(log n), no
 * stale members. One heap per item. Keys are stored in an array of doubles, so that a
 * comparison touches no member: with 100,000 members each is a cache miss. Of members
 * with the same key, the one with the smaller tie is first.
 */
export class KeyedHeap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #keys: number[] = [];
  readonly #ties: number[] = [];

  /** All members, the one with the smallest key first, the others unordered. */
  readonly items: readonly T[] = this.#items;
  /** Keys of the items, at the same indexes. */
  readonly keys: readonly number[] = this.#keys;

  /** Adds the item, or gives a member a new key. */
  put(item: T, key: number, tie = 0): void {
    const index = item.heapIndex >= 0 ? item.heapIndex : this.#items.length;
    let hole = index;
    while (hole > 0) {
      const above = (hole - 1) >> 1;
      if (!isBefore(key, tie, this.#keys[above]!, this.#ties[above]!)) break;
      this.#move(above, hole);
      hole = above;
    }
    if (hole === index) hole = this.#sink(key, tie, index);
    item.heapIndex = hole;
    this.#items[hole] = item;
    this.#keys[hole] = key;
    this.#ties[hole] = tie;
  }

  /** No-op for an item outside. */
  remove(item: T): void {
    const index = item.heapIndex;
    if (index < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop()!;
    const key = this.#keys.pop()!;
    const tie = this.#ties.pop()!;
    if (last === item) return;
    last.heapIndex = index;
    this.put(last, key, tie);
  }

  /** Moves smaller descendants up; returns the hole they leave. */
  #sink(key: number, tie: number, from: number): number {
    const keys = this.#keys;
    const ties = this.#ties;
    let hole = from;
    for (let below = 2 * hole + 1; below < keys.length; below = 2 * hole + 1) {
      const right = below + 1;
      if (right < keys.length && isBefore(keys[right]!, ties[right]!, keys[below]!, ties[below]!))
        below = right;
      if (!isBefore(keys[below]!, ties[below]!, key, tie)) break;
      this.#move(below, hole);
      hole = below;
    }
    return hole;
  }

  #move(from: number, to: number): void {
    const item = this.#items[from]!;
    item.heapIndex = to;
    this.#items[to] = item;
    this.#keys[to] = this.#keys[from]!;
    this.#ties[to] = this.#ties[from]!;
  }
}

const isBefore = (key: number, tie: number, otherKey: number, otherTie: number): boolean =>
  key < otherKey || (key === otherKey && tie < otherTie);
