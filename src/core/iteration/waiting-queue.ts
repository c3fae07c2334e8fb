interface Place<T> {
  readonly item: T;
  readonly key: number;
}

/** Smallest key first, first in first out among equals. For short queues: inserts move members. */
export class WaitingQueue<T> {
  readonly #places: Place<T>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: T, key: number): void {
    let low = 0;
    for (let high = this.#places.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.#places[middle]!.key <= key) low = middle + 1;
      else high = middle;
    }
    this.#places.splice(low, 0, { item, key });
  }

  /** Removes and returns the first one. */
  take(): T | undefined {
    return this.#places.shift()?.item;
  }

  /** The first one that `accepts` takes; it stays in the queue. */
  first(accepts: (item: T) => boolean): T | undefined {
    return this.#places.find(({ item }) => accepts(item))?.item;
  }

  /** True when it was in the queue. */
  remove(item: T): boolean {
    const index = this.#places.findIndex(place => place.item === item);
    if (index >= 0) this.#places.splice(index, 1);
    return index >= 0;
  }
}
