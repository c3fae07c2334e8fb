/** What a heap stores in its members, so that it can move and remove them without searching. */
export interface HeapItem {
  heapKey: number;
  /** Place in the heap, -1 while outside. Only the heap writes it. */
  heapIndex: number;
}

/** Binary min-heap by number with exact removal: put, re-key and remove in O(log n), no stale members. One heap per item. */
export class KeyedHeap<T extends HeapItem> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The member with the smallest key. */
  get top(): T | undefined {
    return this.#items[0];
  }

  /** All members, in no useful order; valid until the next change. */
  get members(): readonly T[] {
    return this.#items;
  }

  /** Adds the item, or gives a member a new key. */
  put(item: T, key: number): void {
    item.heapKey = key;
    if (item.heapIndex < 0) {
      item.heapIndex = this.#items.length;
      this.#items.push(item);
    }
    this.#settle(item);
  }

  /** Harmless for an item outside. */
  remove(item: T): void {
    const index = item.heapIndex;
    if (index < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#place(last, index);
    this.#settle(last);
  }

  #settle(item: T): void {
    this.#up(item);
    this.#down(item);
  }

  #up(item: T): void {
    const items = this.#items;
    let index = item.heapIndex;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = items[above]!;
      if (parent.heapKey <= item.heapKey) break;
      this.#place(parent, index);
      index = above;
    }
    this.#place(item, index);
  }

  #down(item: T): void {
    const items = this.#items;
    const size = items.length;
    let index = item.heapIndex;
    for (;;) {
      let below = 2 * index + 1;
      if (below >= size) break;
      if (below + 1 < size && items[below + 1]!.heapKey < items[below]!.heapKey) below += 1;
      const child = items[below]!;
      if (child.heapKey >= item.heapKey) break;
      this.#place(child, index);
      index = below;
    }
    this.#place(item, index);
  }

  #place(item: T, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }
}
