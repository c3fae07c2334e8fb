import { isWorkerAnswer } from '../../contracts/grpc/status.codec.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { Lease } from '../../core/shared/lease.js';
import { type BreakerOptions, type BreakerState, CircuitBreaker } from './circuit-breaker.js';
import { type WorkerOffer } from './worker-choice.js';

/** How one worker treated its requests lately, and what it may be sent because of that. */
export class ServiceRecord {
  readonly #breaker: CircuitBreaker;
  /** It refused the last request that it answered. */
  #refuses = false;

  /** @param onRoom it may be sent more than before; synchronous */
  constructor(options: BreakerOptions, onRoom: () => void) {
    this.#breaker = new CircuitBreaker(options, onRoom);
  }

  get breaker(): BreakerState {
    return this.#breaker.state;
  }

  get problem(): string | undefined {
    return this.#breaker.problem;
  }

  /** Requests that it gave back may as well come to it again: it has answered others since. */
  get isTrusted(): boolean {
    return !this.#refuses;
  }

  /** What is left of an offer: all of it, one request on trial, or nothing. */
  limit(all: WorkerOffer): WorkerOffer | undefined {
    if (this.#breaker.state === 'closed') return all;
    if (!this.#breaker.takesTrial || all.offer.free === 0) return undefined;
    return { ...all, offer: { ...all.offer, free: 1, urgent: 1, maxBatch: 1 }, total: 1, isTrial: true };
  }

  /** To be called with every lease that is taken. */
  lease(leases: readonly Lease[]): readonly Lease[] {
    return this.#breaker.state === 'half_open' ? leases.map(lease => this.#trial(lease)) : leases;
  }

  answered(): void {
    this.#refuses = false;
    this.#breaker.answered();
  }

  /**
   * A call failed. What the worker says about the request is an answer; what happened on this side says nothing.
   * @returns true when the worker said that it takes no work now
   */
  failed(error: unknown): boolean {
    if (isWorkerAnswer(error)) this.answered();
    if (!(error instanceof WorkerLostError)) return false;
    const { kind, message } = error;
    if (kind === 'refused') this.note(`it refused a request: ${message}`);
    if (kind === 'refused' || kind === 'draining') this.#refuses = true;
    return kind === 'draining';
  }

  /** The worker failed in another way. */
  note(failure: string): void {
    this.#breaker.failed(failure);
  }

  /** As for a new process. Holds no timer afterwards. */
  clear(): void {
    this.#refuses = false;
    this.#breaker.reset();
  }

  #trial(lease: Lease): Lease {
    this.#breaker.trialBegins();
    return new Lease(() => {
      lease.release();
      this.#breaker.trialEnds();
    });
  }
}
