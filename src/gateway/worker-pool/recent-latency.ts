/** Weight of the newest value: after ten answers the first counts for a tenth. */
const WEIGHT = 0.2;

/** Exponentially weighted mean of how long the calls of one worker took, in milliseconds. */
export class RecentLatency {
  #meanMs: number | undefined;

  /** 0 before the first answer: a new worker is tried first. */
  get ms(): number {
    return this.#meanMs ?? 0;
  }

  add(ms: number): void {
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + WEIGHT * (ms - this.#meanMs);
  }
}
