/**
 * For how long somebody has been slowed, less the time without: pauses now and then do not add up, those one after another do.
 * Milliseconds.
 */
export class SlowedTime {
  #slowedMs = 0;
  #pauseMs = 0;

  /**
   * @param pauseMs from now on, in place of what is left of the last pause
   * @param passedMs since the last call
   * @returns the time in all, this pause included
   */
  add(pauseMs: number, passedMs: number): number {
    const leftMs = Math.max(0, this.#pauseMs - passedMs);
    const freeMs = Math.max(0, passedMs - this.#pauseMs);
    this.#slowedMs = Math.max(0, this.#slowedMs - freeMs) + Math.max(0, pauseMs - leftMs);
    this.#pauseMs = Math.max(pauseMs, leftMs);
    return this.#slowedMs;
  }
}
