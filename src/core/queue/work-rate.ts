/** Time constant: a few groups of a model, and short enough to notice a worker that came or went. */
const MEMORY_MS = 10_000;
/** What fills idle workers at once says nothing about what they manage. */
const FILLING_MS = 10;

/** The work that leaves a queue per millisecond while more waits: what the workers of a model manage. */
export class WorkRate {
  #workMs = 0;
  #spentMs = 0;
  /** The last time work was sent while more waited; undefined: nothing waits. */
  #sinceMs: number | undefined;
  #backlogSinceMs = 0;

  /** @param workMs that was sent @param hasMore some still waits */
  sent(workMs: number, nowMs: number, hasMore: boolean): void {
    if (this.#sinceMs === undefined) this.#backlogSinceMs = this.#sinceMs = nowMs;
    else if (nowMs - this.#backlogSinceMs > FILLING_MS) this.#record(workMs, nowMs, nowMs - this.#sinceMs);
    if (!hasMore) this.#sinceMs = undefined;
  }

  /** Milliseconds in which so much work is sent; 0: unknown. */
  msFor(workMs: number): number {
    return this.#workMs > 0 ? (workMs * this.#spentMs) / this.#workMs : 0;
  }

  #record(workMs: number, nowMs: number, elapsedMs: number): void {
    const rest = Math.exp(-elapsedMs / MEMORY_MS);
    this.#workMs = this.#workMs * rest + workMs;
    this.#spentMs = this.#spentMs * rest + elapsedMs;
    this.#sinceMs = nowMs;
  }
}
