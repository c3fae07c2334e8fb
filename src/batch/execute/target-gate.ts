import { ConcurrencyLimit } from '../../core/jobs/concurrency-limit.js';

/** The slots of one model at one target: as many as it stands (AIMD), none while it asked to wait (`Retry-After`). */
export class TargetGate {
  readonly limit: ConcurrencyLimit;
  #inFlight = 0;
  #closedUntilMs = 0;

  constructor(most: number) {
    this.limit = new ConcurrencyLimit(most);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Monotonic milliseconds; 0: open. */
  get closedUntilMs(): number {
    return this.#closedUntilMs;
  }

  isOpen(nowMs: number): boolean {
    return this.#inFlight < this.limit.current && nowMs >= this.#closedUntilMs;
  }

  acquire(): void {
    this.#inFlight += 1;
  }

  release(): void {
    this.#inFlight -= 1;
  }

  succeeded(): void {
    this.limit.succeeded();
  }

  /** 429 or 5xx. @param waitMs what the target asked to wait */
  troubled(nowMs: number, waitMs = 0): void {
    this.limit.troubled();
    this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + waitMs);
  }
}
