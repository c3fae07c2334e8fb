/**
 * How many lines one target is given at the same time: one more per full round without
 * trouble, half after a busy or failing answer (AIMD), between 1 and the configured
 * limit. One cut per round: of a burst of 429s only the first is news.
 */
export class ConcurrencyLimit {
  #limit: number;
  #goodInARow = 0;
  /** Answers still to come from before the last cut. */
  #stale = 0;

  /** @param most the configured limit, whole number >= 1 */
  constructor(readonly most: number) {
    if (!Number.isInteger(most) || most < 1)
      throw new RangeError(`A concurrency limit is >= 1, not ${most}.`);
    this.#limit = most;
  }

  get current(): number {
    return this.#limit;
  }

  succeeded(): void {
    if (this.#stale > 0) this.#stale -= 1;
    if (this.#limit >= this.most || ++this.#goodInARow < this.#limit) return;
    this.#limit += 1;
    this.#goodInARow = 0;
  }

  /** 429 or 5xx. */
  overloaded(): void {
    this.#goodInARow = 0;
    if (this.#stale > 0) return void (this.#stale -= 1);
    this.#stale = this.#limit - 1;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
  }
}
