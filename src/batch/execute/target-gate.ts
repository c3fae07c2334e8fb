import { Reachability } from '../../core/jobs/reachability.js';
import { type Backoff } from '@switchyard/engine-api/backoff.js';

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

/**
 * The slots of one model at one target: as many as the target sustains (AIMD), none until
 * its `Retry-After`, and one probing line at a time while it is unreachable.
 */
export class TargetGate {
  readonly limit: ConcurrencyLimit;
  readonly #reachability: Reachability;
  #inFlight = 0;
  #isProbing = false;
  #busyUntilMs = 0;
  #answers = 0;

  constructor(maxSlots: number, pauses: Backoff) {
    this.limit = new ConcurrencyLimit(maxSlots);
    this.#reachability = new Reachability(pauses);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** The target is unreachable: the next line is sent alone, as a probe. */
  get isAway(): boolean {
    return this.#reachability.isAway;
  }

  /** Answers so far. */
  get answers(): number {
    return this.#answers;
  }

  /** Monotonic milliseconds; 0 = open. */
  get closedUntilMs(): number {
    return Math.max(this.#busyUntilMs, this.#reachability.untilMs);
  }

  isOpen(nowMs: number): boolean {
    if (nowMs < this.closedUntilMs) return false;
    return this.isAway ? !this.#isProbing : this.#inFlight < this.limit.current;
  }

  /** @returns the function that releases the slot */
  acquire(): () => void {
    const isProbe = this.isAway;
    if (isProbe) this.#isProbing = true;
    this.#inFlight += 1;
    return () => {
      if (isProbe) this.#isProbing = false;
      this.#inFlight -= 1;
    };
  }

  succeeded(): void {
    this.limit.succeeded();
  }

  /** The target answered 429 or 5xx. @param waitMs from `Retry-After` */
  overloaded(nowMs: number, waitMs = 0): void {
    this.limit.overloaded();
    this.#busyUntilMs = Math.max(this.#busyUntilMs, nowMs + waitMs);
  }

  /** The target is unreachable. @returns true if it was reachable before */
  failed(nowMs: number, waitMs = 0): boolean {
    const isNew = !this.isAway;
    this.#reachability.failed(nowMs, waitMs);
    return isNew;
  }

  /** The target answered, with any status. @returns true if it was unreachable before */
  answered(): boolean {
    const isNew = this.isAway;
    this.#reachability.returned();
    this.#answers += 1;
    return isNew;
  }
}
