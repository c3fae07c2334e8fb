/** Tolerance: sums of shares such as 0.3 miss 1 by their last bits. */
const ROUNDING = 1e-9;

/**
 * Decides between REALTIME and aged BATCH requests while both wait (D-03): one in `1 /
 * share` turns goes to an aged request, exactly and in a fixed order. An error
 * accumulator supports shares such as 0.3 (turns 4, 7, 10, 14, 17, 20 … are aged).
 *
 * An uncontested turn resets the count, so the next contest begins with REALTIME. With a
 * share of 1 there is no count: the older request goes first, and REALTIME behind an aged
 * backlog waits for all of it.
 */
export class AgingTurns {
  #credit: number;

  /**
   * @param share part of the turns for aged entries, above 0, 1 at most
   * @param credit of an earlier count that this one continues
   */
  constructor(
    private readonly share: number,
    credit = 0,
  ) {
    this.#credit = credit;
    if (!(share > 0 && share <= 1))
      throw new RangeError(`An aging share must be above 0 and at most 1; got ${share}.`);
  }

  /**
   * True: the aged request has the turn.
   * @param realtimeSince arrival of the first request of each side, as time or position
   */
  isAgedNext(realtimeSince: number, agedSince: number): boolean {
    if (this.share === 1) return agedSince < realtimeSince;
    return this.#credit + this.share >= 1 - ROUNDING;
  }

  /**
   * Counts a turn.
   * @param aged it went to an aged entry
   * @param contested REALTIME and aged entries both waited for it
   */
  taken(aged: boolean, contested: boolean): void {
    this.#credit = contested ? this.#credit + this.share - (aged ? 1 : 0) : 0;
  }

  /** A copy of the count, for a preview. */
  copy(): AgingTurns {
    return new AgingTurns(this.share, this.#credit);
  }
}
