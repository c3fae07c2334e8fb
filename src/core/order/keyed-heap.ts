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

  get size(): number {
    return this.#items.length;
  }

  /** The member with the smallest key. */
  get top(): T | undefined {
    return this.#items[0];
  }

  /** The smallest key. */
  get topKey(): number | undefined {
    return this.#keys[0];
  }

  /** All members, unordered; valid until the next change. */
  get members(): readonly T[] {
    return this.#items;
  }

  /** Adds the item, or gives a member a new key. */
  put(item: T, key: number, tie = 0): void {
    if (item.heapIndex >= 0) {
      this.#settle(item, key, tie, item.heapIndex);
      return;
    }
    this.#items.push(item);
    this.#keys.push(key);
    this.#ties.push(tie);
    this.#settle(item, key, tie, this.#items.length - 1);
  }

  /** No-op for an item outside. */
  remove(item: T): void {
    const index = item.heapIndex;
    if (index < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop();
    const key = this.#keys.pop();
    const tie = this.#ties.pop();
    if (last === undefined || key === undefined || tie === undefined || last === item)
      return;
    this.#settle(last, key, tie, index);
  }

  /**
   * Finds the place of an item whose place may be `index` or anywhere above or below it.
   */
  #settle(item: T, key: number, tie: number, index: number): void {
    const above = this.#up(key, tie, index);
    const place = above === index ? this.#down(key, tie, index) : above;
    this.#place(item, key, tie, place);
  }

  /** Moves larger ancestors down; returns the hole they leave. */
  #up(key: number, tie: number, from: number): number {
    let hole = from;
    while (hole > 0) {
      const above = (hole - 1) >> 1;
      if (!isBefore(key, tie, this.#keys[above]!, this.#ties[above]!)) break;
      this.#place(this.#items[above]!, this.#keys[above]!, this.#ties[above]!, hole);
      hole = above;
    }
    return hole;
  }

  /** Moves smaller descendants up; returns the hole they leave. */
  #down(key: number, tie: number, from: number): number {
    const keys = this.#keys;
    const ties = this.#ties;
    let hole = from;
    for (let below = 2 * hole + 1; below < keys.length; below = 2 * hole + 1) {
      const right = below + 1;
      if (
        right < keys.length &&
        isBefore(keys[right]!, ties[right]!, keys[below]!, ties[below]!)
      )
        below = right;
      if (!isBefore(keys[below]!, ties[below]!, key, tie)) break;
      this.#place(this.#items[below]!, keys[below]!, ties[below]!, hole);
      hole = below;
    }
    return hole;
  }

  #place(item: T, key: number, tie: number, index: number): void {
    this.#items[index] = item;
    this.#keys[index] = key;
    this.#ties[index] = tie;
    item.heapIndex = index;
  }
}

const isBefore = (
  key: number,
  tie: number,
  otherKey: number,
  otherTie: number,
): boolean => key < otherKey || (key === otherKey && tie < otherTie);
