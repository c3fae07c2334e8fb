/** Seconds over which the past counts: long enough to smooth groups of 8, short enough to notice a stall. */
const MEMORY_MS = 10_000;
/** Below this much history a rate would be a guess from one group. */
const MIN_HISTORY_MS = 1_000;

/**
 * How fast requests leave a queue: an exponentially forgetting count, corrected for a short history. O(1) in time and space,
 * unlike a list of instants.
 */
export class DrainRate {
  #count = 0;
  #countedAtMs = 0;
  #sinceMs: number | undefined;

  /** `left` requests went to a worker at `nowMs`. */
  record(left: number, nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#count = this.#remembered(nowMs) + left;
    this.#countedAtMs = nowMs;
  }

  /** Requests per second; undefined until the first one left. Tends to 0 during a stall. */
  perSecond(nowMs: number): number | undefined {
    if (this.#sinceMs === undefined) return undefined;
    const historyMs = Math.max(nowMs - this.#sinceMs, MIN_HISTORY_MS);
    const memoryS = (MEMORY_MS / 1000) * (1 - Math.exp(-historyMs / MEMORY_MS));
    return this.#remembered(nowMs) / memoryS;
  }

  #remembered(nowMs: number): number {
    return this.#count * Math.exp((this.#countedAtMs - nowMs) / MEMORY_MS);
  }
}
