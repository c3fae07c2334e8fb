/**
 * Default time constant: long enough to smooth groups of 8, short enough to
 * notice a stall.
 */
const MEMORY_MS = 10_000;
/** With less history, the rate would come from a single group. */
const MIN_HISTORY_MS = 1_000;

/**
 * The rate at which requests leave a queue: an exponentially decaying count, corrected
 * for a short history. O(1) in time and space.
 */
export class DrainRate {
  #count = 0;
  #countedAtMs = 0;
  #sinceMs: number | undefined;

  constructor(private readonly memoryMs = MEMORY_MS) {}

  /** `left` requests went to a worker at `nowMs`. */
  record(left: number, nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#count = this.#decayed(nowMs) + left;
    this.#countedAtMs = nowMs;
  }

  /** Requests per second; undefined before the first one. Tends to 0 during a stall. */
  perSecond(nowMs: number): number | undefined {
    if (this.#sinceMs === undefined) return undefined;
    const historyMs = Math.max(nowMs - this.#sinceMs, MIN_HISTORY_MS);
    const memoryS = (this.memoryMs / 1000) * (1 - Math.exp(-historyMs / this.memoryMs));
    return this.#decayed(nowMs) / memoryS;
  }

  #decayed(nowMs: number): number {
    return this.#count * Math.exp((this.#countedAtMs - nowMs) / this.memoryMs);
  }
}
