import { type Backoff } from '@switchyard/engine-api/backoff.js';
import { Reachability } from '../../core/jobs/reachability.js';

/**
 * The slots of one model at one target: as many as the target sustains, none until its
 * `Retry-After`, and one probing line at a time while it is unreachable. There is one slot
 * more per full round without trouble, and half after a busy or failing answer (AIMD),
 * between 1 and the configured limit. One cut per round: of a burst of 429s only the first
 * is news.
 */
export class TargetGate {
  readonly #reachability: Reachability;
  #slots: number;
  #inFlight = 0;
  #isProbing = false;
  #busyUntilMs = 0;
  #answers = 0;
  #goodInARow = 0;
  /** Answers that are still due to lines sent before the last cut; they cut no more. */
  #stale = 0;

  /** @param maxSlots the configured limit, whole number >= 1 */
  constructor(
    private readonly maxSlots: number,
    pauses: Backoff,
  ) {
    if (!Number.isInteger(maxSlots) || maxSlots < 1)
      throw new RangeError(`A concurrency limit is >= 1, not ${maxSlots}.`);
    this.#slots = maxSlots;
    this.#reachability = new Reachability(pauses);
  }

  get slots(): number {
    return this.#slots;
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
    return this.isAway ? !this.#isProbing : this.#inFlight < this.#slots;
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
    if (this.#stale > 0) this.#stale -= 1;
    if (this.#slots >= this.maxSlots || ++this.#goodInARow < this.#slots) return;
    this.#slots += 1;
    this.#goodInARow = 0;
  }

  /** The target answered 429 or 5xx. @param waitMs from `Retry-After` */
  overloaded(nowMs: number, waitMs = 0): void {
    this.#busyUntilMs = Math.max(this.#busyUntilMs, nowMs + waitMs);
    this.#goodInARow = 0;
    if (this.#stale > 0) return void (this.#stale -= 1);
    this.#stale = this.#slots - 1;
    this.#slots = Math.max(1, Math.floor(this.#slots / 2));
  }

  /** The target is unreachable. @returns true if it was reachable before */
  failed(nowMs: number, waitMs?: number): boolean {
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
