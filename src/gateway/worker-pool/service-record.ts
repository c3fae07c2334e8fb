import { isWorkerAnswer } from '../../contracts/grpc/status.codec.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { blended } from '../../core/shared/blended.js';
import { Lease } from '../../core/shared/lease.js';
import { type BreakerOptions, type BreakerState, CircuitBreaker } from './circuit-breaker.js';
import { type WorkerOffer } from './worker-choice.js';

/** Weight of the newest value: after ten answers the first counts for a tenth. */
const WEIGHT = 0.2;

/** Exponentially weighted mean of how long the calls of one worker took, in milliseconds. */
export class RecentLatency {
  #meanMs: number | undefined;

  /** 0 before the first answer: a new worker is tried first. */
  get ms(): number {
    return this.#meanMs ?? 0;
  }

  add(ms: number): void {
    this.#meanMs = blended(this.#meanMs, ms, WEIGHT);
  }
}

/** How one worker answered recent requests, and what it may be sent because of that. */
export class ServiceRecord {
  readonly #breaker: CircuitBreaker;
  readonly #latency = new RecentLatency();
  /** It rejected the last request that it answered. */
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

  /** It may get a request that it gave back: it has answered others since. */
  get isTrusted(): boolean {
    return !this.#refuses;
  }

  /** What is left of an offer: all of it, one request on trial, or nothing. */
  limit(given: Omit<WorkerOffer, 'latencyMs'>): WorkerOffer | undefined {
    const all = { ...given, latencyMs: this.#latency.ms };
    if (this.#breaker.state === 'closed') return all;
    if (!this.#breaker.takesTrial || all.offer.free === 0) return undefined;
    return { ...all, offer: { ...all.offer, free: 1, urgent: 1, maxBatch: 1 }, total: 1, isTrial: true };
  }

  /** To be called with every lease that is taken. */
  lease(leases: readonly Lease[]): readonly Lease[] {
    return this.#breaker.state === 'half_open' ? leases.map(lease => this.#trial(lease)) : leases;
  }

  /** @param tookMs how long a completed call took */
  answered(tookMs?: number): void {
    if (tookMs !== undefined) this.#latency.add(tookMs);
    this.#refuses = false;
    this.#breaker.answered();
  }

  /**
   * A call failed. An error that the worker reports about the request is an answer; a failure on this side says
   * nothing.
   * @returns true when the worker reported that it accepts no requests now
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
