import { type Backoff, backoffMs, NO_JITTER } from '../shared/backoff.js';

const FIRST_PAUSE_MS = 250;
/** Whatever back-off is configured: what returns is found within 5 s. */
const LONGEST_PAUSE_MS = 5000;

/** As configured for retries, and never longer than 250 ms at first and 5 s in the end. */
export const probePauses = (retries: { readonly initialMs: number; readonly maxMs: number }): Backoff => ({
  firstMs: Math.min(FIRST_PAUSE_MS, retries.initialMs),
  longestMs: Math.min(LONGEST_PAUSE_MS, retries.maxMs),
});

/** Whether something that is asked is away, and when it may be asked again: by one asker at a time, until it answers. */
export class Absence {
  #failures = 0;
  #untilMs = 0;

  constructor(private readonly pauses: Backoff) {}

  /** Nothing was heard of it since it failed. */
  get isAway(): boolean {
    return this.#failures > 0;
  }

  /** Monotonic milliseconds: not asked before. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** It failed. Of many that were asked at once only the first counts. @param askedMs what it asked to wait */
  failed(nowMs: number, askedMs = 0): void {
    if (nowMs >= this.#untilMs || !this.isAway) {
      this.#failures += 1;
      this.#untilMs = nowMs + backoffMs(this.#failures, this.pauses, NO_JITTER);
    }
    this.#untilMs = Math.max(this.#untilMs, nowMs + askedMs);
  }

  /** It answered. */
  returned(): void {
    this.#failures = 0;
    this.#untilMs = 0;
  }
}
