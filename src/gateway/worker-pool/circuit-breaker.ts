import { isWorkerAnswer } from '../../contracts/errors/status.codec.js';
import { Lease } from '../../core/dispatch/lease.js';
import { type WorkerOffer } from '../../core/dispatch/worker.port.js';
import { blended } from '../../core/latency/means.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { type Settings } from '../../platform/config/settings.js';
import { type BreakerState } from './worker-view.js';

/** The longest pause before a trial, in first pauses: a worker that recovered waits no longer. */
const LONGEST_PAUSE = 30;

/** Weight of the newest latency: after ten answers the first counts for a tenth. */
const WEIGHT = 0.2;

/**
 * Suspends a worker that fails one request after another although it answers its probes.
 * Only failures of the worker count, never its errors about a request: a caller cannot
 * open the breaker with bad input. It also knows how fast the worker answers.
 */
export class CircuitBreaker {
  #state: BreakerState = 'closed';
  #latencyMs = 0;
  #isTrusted = true;
  #failures = 0;
  #pauseMs = 0;
  #reason = '';
  #onTrial = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param onRoom it may be sent more than before: all, or one request; synchronous */
  constructor(
    /** Failures in a row that open it, and the first pause before a trial. */
    private readonly options: Pick<Settings['workers'], 'breakerFailures' | 'breakerMinMs'>,
    private readonly onRoom: () => void,
  ) {}

  get state(): BreakerState {
    return this.#state;
  }

  /**
   * Exponentially weighted mean of how long its calls took; 0 before the first answer: a
   * new worker is tried first.
   */
  get latencyMs(): number {
    return this.#latencyMs;
  }

  /**
   * Whether the worker may get a request again that it gave back. False from a rejection until
   * it answers another request.
   */
  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  /** Why no or few requests are sent; undefined while the breaker is closed. */
  get problem(): string | undefined {
    if (this.#state === 'closed') return undefined;
    const next =
      this.#state === 'open' ? `next trial within ${this.#pauseMs} ms` : 'one request is tried';
    const shown = this.#state.replace('_', ' ');
    return `circuit breaker ${shown} after ${this.#failures} failures in a row, ${next}: ${this.#reason}`;
  }

  /** What is left of an offer: all of it, one request on trial, or nothing. */
  limit(offer: WorkerOffer): WorkerOffer | undefined {
    if (this.#state === 'closed') return offer;
    if (this.#state === 'open' || this.#onTrial || offer.free === 0) return undefined;
    return { ...offer, free: 1, urgent: 1, maxBatch: 1, total: 1, isTrial: true };
  }

  /** To be called with every lease that is taken while the breaker is half open. */
  trials(leases: readonly Lease[]): readonly Lease[] {
    this.#onTrial = true;
    return leases.map(
      lease =>
        new Lease(() => {
          lease.release();
          this.#onTrial = false;
          // It was cancelled without an outcome: another request is tried.
          if (this.#state === 'half_open') this.onRoom();
        }),
    );
  }

  /**
   * The worker answered a request, be it with an error about that request. @param tookMs
   * how long the call took
   */
  answered(tookMs?: number): void {
    if (tookMs !== undefined)
      this.#latencyMs = blended(this.#latencyMs || undefined, tookMs, WEIGHT);
    this.#isTrusted = true;
    if (this.#state === 'closed') this.#failures = 0;
    if (this.#state !== 'half_open') return;
    this.clear();
    this.onRoom();
  }

  /**
   * A call failed. An error that the worker reports about the request is an answer; a
   * failure on this side says nothing.
   * @returns true when the worker reported that it accepts no requests now
   */
  failed(error: unknown): boolean {
    if (isWorkerAnswer(error)) this.answered();
    if (!(error instanceof WorkerLostError)) return false;
    const { kind, message } = error;
    if (kind === 'refused') this.note(`it refused a request: ${message}`);
    if (kind === 'refused' || kind === 'draining') this.#isTrusted = false;
    return kind === 'draining';
  }

  /** Counts a failure of the worker itself. */
  note(failure: string): void {
    if (this.#state === 'open') return;
    this.#failures += 1;
    this.#reason = failure;
    if (this.#state === 'half_open' || this.#failures >= this.options.breakerFailures) this.#open();
  }

  /** As for a new process, but for its latency. Holds no timer afterwards. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#state = 'closed';
    this.#failures = 0;
    this.#pauseMs = 0;
    this.#onTrial = false;
    this.#isTrusted = true;
  }

  #open(): void {
    const { breakerMinMs } = this.options;
    this.#state = 'open';
    this.#pauseMs = Math.min(
      Math.max(breakerMinMs, 2 * this.#pauseMs),
      LONGEST_PAUSE * breakerMinMs,
    );
    this.#timer = setTimeout(() => {
      this.#state = 'half_open';
      this.onRoom();
    }, this.#pauseMs);
  }
}
