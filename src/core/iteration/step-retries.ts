import { type StepItem } from './generation-plan.js';

/**
 * Items of a step that failed as a whole, to be tried again in halves, until the one that spoils it stands alone. Of n items
 * with one bad one that takes about 2 log2 n steps, and its neighbours lose no token.
 */
export class StepRetries<T> {
  readonly #groups: (readonly StepItem<T>[])[] = [];

  get size(): number {
    return this.#groups.length;
  }

  /** The culprit, when the step had one item only; else the halves are the next groups. */
  split(items: readonly StepItem<T>[]): StepItem<T> | undefined {
    if (items.length <= 1) return items[0];
    const half = Math.ceil(items.length / 2);
    this.#groups.unshift(items.slice(0, half), items.slice(half));
    return undefined;
  }

  /** The next group that still has items of `isAlive`, and those. */
  next(isAlive: (item: StepItem<T>) => boolean): readonly StepItem<T>[] | undefined {
    for (let group = this.#groups.shift(); group !== undefined; group = this.#groups.shift()) {
      const alive = group.filter(isAlive);
      if (alive.length > 0) return alive;
    }
    return undefined;
  }

  clear(): void {
    this.#groups.length = 0;
  }
}
