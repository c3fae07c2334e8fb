/** Sums of shares such as 0.3 miss 1 by their last bits. */
const ROUNDING = 1e-9;

/**
 * Whose turn it is while REALTIME and aged BATCH requests both wait (D-03): of `1 / share` turns one is an aged one, exactly and
 * in a fixed order. An error accumulator, so shares such as 0.3 hold as well (turns 4, 7, 10, 14, 17, 20 … are aged ones).
 *
 * A turn that nobody else wanted starts the count again, so the next contest begins with REALTIME. With a share of 1 there is no
 * count: whoever came first goes first, and REALTIME behind an aged backlog waits for all of it.
 */
export class AgingTurns {
  readonly #share: number;
  #credit = 0;

  /** @param share above 0, 1 at most */
  constructor(share: number) {
    if (!(share > 0 && share <= 1)) throw new RangeError(`An aging share is above 0 and at most 1; got ${share}.`);
    this.#share = share;
  }

  /** True: the aged one goes. Both sides give the instant (or the place) at which their first one came. */
  isAgedNext(realtimeSince: number, agedSince: number): boolean {
    if (this.#share === 1) return agedSince < realtimeSince;
    return this.#credit + this.#share >= 1 - ROUNDING;
  }

  /** @param contested both sides waited when this turn was given */
  taken(aged: boolean, contested: boolean): void {
    this.#credit = contested ? this.#credit + this.#share - (aged ? 1 : 0) : 0;
  }

  /** The same count, to look ahead with. */
  copy(): AgingTurns {
    const copy = new AgingTurns(this.#share);
    copy.#credit = this.#credit;
    return copy;
  }
}
