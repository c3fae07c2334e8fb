import { type Backoff, backoffMs } from '@switchyard/engine-api/backoff.js';

const FIRST_PAUSE_MS = 250;
/** Whatever back-off is configured: a recovered target is found within 5 s. */
const LONGEST_PAUSE_MS = 5000;

/** The configured pauses between retries, at most 250 ms at first and 5 s in the end. */
export const probePauses = (retries: {
  readonly initialMs: number;
  readonly maxMs: number;
}): Backoff => ({
  firstMs: Math.min(FIRST_PAUSE_MS, retries.initialMs),
  longestMs: Math.min(LONGEST_PAUSE_MS, retries.maxMs),
});

/**
 * Whether a target is reachable, and when an unreachable one may be probed again, by one
 * line at a time.
 */
export class Reachability {
  #failures = 0;
  #untilMs = 0;

  constructor(private readonly pauses: Backoff) {}

  /** It has not answered since it failed. */
  get isAway(): boolean {
    return this.#failures > 0;
  }

  /** Monotonic time of the next probe. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /**
   * It failed. Of several concurrent failures only the first counts. @param
   * askedMs from `Retry-After`
   */
  failed(nowMs: number, askedMs = 0): void {
    if (nowMs >= this.#untilMs || !this.isAway) {
      this.#failures += 1;
      this.#untilMs = nowMs + backoffMs(this.#failures, this.pauses, () => 0);
    }
    this.#untilMs = Math.max(this.#untilMs, nowMs + askedMs);
  }

  /** Notes that the target answered. */
  returned(): void {
    this.#failures = 0;
    this.#untilMs = 0;
  }
}
