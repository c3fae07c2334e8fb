/** `open`: no requests. `half_open`: one request at a time, to see whether the worker serves again. */
export type BreakerState = 'closed' | 'open' | 'half_open';

export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** First pause before a trial; doubles with each failed one. */
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Suspends a worker that fails one request after another although it answers its probes. Only failures of the worker
 * count, never its errors about a request: a caller cannot open the breaker with bad input.
 */
export class CircuitBreaker {
  #state: BreakerState = 'closed';
  #failures = 0;
  #pauseMs = 0;
  #reason = '';
  #onTrial = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param onRoom requests may be sent again: all, or one; synchronous */
  constructor(
    private readonly options: BreakerOptions,
    private readonly onRoom: () => void,
  ) {}

  get state(): BreakerState {
    return this.#state;
  }

  /** Half open, and no trial request is in flight. */
  get takesTrial(): boolean {
    return this.#state === 'half_open' && !this.#onTrial;
  }

  /** Why no or few requests are sent; undefined while it is closed. */
  get problem(): string | undefined {
    if (this.#state === 'closed') return undefined;
    const next = this.#state === 'open' ? `next trial within ${this.#pauseMs} ms` : 'one request is tried';
    const state = this.#state.replace('_', ' ');
    return `circuit breaker ${state} after ${this.#failures} failures in a row, ${next}: ${this.#reason}`;
  }

  failed(reason: string): void {
    if (this.#state === 'open') return;
    this.#failures += 1;
    this.#reason = reason;
    if (this.#state === 'half_open' || this.#failures >= this.options.failures) this.#open();
  }

  /** The worker answered a request, be it with an error about that request. */
  answered(): void {
    if (this.#state === 'open') return;
    const wasHalfOpen = this.#state === 'half_open';
    this.reset();
    if (wasHalfOpen) this.onRoom();
  }

  trialBegins(): void {
    this.#onTrial = true;
  }

  /** Its slot is released. If it was cancelled without an outcome, another request is tried. */
  trialEnds(): void {
    this.#onTrial = false;
    if (this.#state === 'half_open') this.onRoom();
  }

  /** Closed, as for a new process. Holds no timer afterwards. */
  reset(): void {
    clearTimeout(this.#timer);
    [this.#state, this.#failures, this.#pauseMs, this.#onTrial] = ['closed', 0, 0, false];
  }

  #open(): void {
    const { minMs, maxMs } = this.options;
    this.#state = 'open';
    this.#pauseMs = Math.min(Math.max(minMs, 2 * this.#pauseMs), maxMs);
    this.#timer = setTimeout(() => {
      this.#state = 'half_open';
      this.onRoom();
    }, this.#pauseMs);
  }
}
