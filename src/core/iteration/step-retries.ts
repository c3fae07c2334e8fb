/**
 * Members of a step that failed as a whole, to be retried in halves until the one at fault is alone. For n members with
 * one at fault that takes about 2 log2 n steps, and the others lose no token.
 */
export class StepRetries<T> {
  readonly #groups: (readonly T[])[] = [];

  get size(): number {
    return this.#groups.length;
  }

  /** The culprit, when the step had one member only; else the halves are the next groups. */
  split(members: readonly T[]): T | undefined {
    if (members.length <= 1) return members[0];
    const half = Math.ceil(members.length / 2);
    this.#groups.unshift(members.slice(0, half), members.slice(half));
    return undefined;
  }

  /** The next group that still has members of `isAlive`, and those. */
  next(isAlive: (member: T) => boolean): readonly T[] | undefined {
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
