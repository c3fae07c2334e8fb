import { type LatencyPhases } from './latency-phases.js';
import { type RequestPriority } from './request-priority.js';
import { type ScheduledRequest } from './scheduled-request.js';
import { type Settlement } from './settlement.js';
import { SUSPECT } from './suspect-tenants.js';

type RequestState = 'queued' | 'leased' | 'settled';

/** What was forecast of a request when it came, in milliseconds (D-27). */
interface ArrivalForecast {
  readonly startMs: number;
  readonly endMs: number;
  readonly startP90Ms: number;
  readonly endP90Ms: number;
}

/**
 * What is known of one request: its state queued → leased → settled, and back to
 * queued when its worker died (D-06), and when it reached each. Instants are
 * monotonic milliseconds.
 *
 * Enforces D-04: `settle` is true exactly once, whichever of reply, deadline, cancel and
 * shutdown comes first. An invalid transition is a defect of the caller and throws.
 */
export class RequestRecord<Q extends ScheduledRequest = ScheduledRequest, R = unknown> {
  #request: Q;
  #state: RequestState = 'queued';
  #workerId: string | undefined;
  #leasedAtMs: number | undefined;
  #sentAtMs: number | undefined;
  #settledAtMs: number | undefined;
  /** Milliseconds in batch windows, summed over attempts. */
  #batchWaitMs = 0;
  #readyMs: number | undefined;
  #promoted = false;
  #attempts = 0;
  #settlement: Settlement<R> | undefined;
  #forecast: ArrivalForecast | undefined;

  constructor(request: Q) {
    this.#request = request;
  }

  /** As it is now: its priority may change, and its tenant come under suspicion. */
  get request(): Q {
    return this.#request;
  }

  get state(): RequestState {
    return this.#state;
  }

  /** The worker that has it, or had it last when settled; undefined while it waits. */
  get workerId(): string | undefined {
    return this.#workerId;
  }

  /** When that worker got it. */
  get leasedAtMs(): number | undefined {
    return this.#leasedAtMs;
  }

  get promoted(): boolean {
    return this.#promoted;
  }

  get settlement(): Settlement<R> | undefined {
    return this.#settlement;
  }

  /** How often the request was sent to a worker. */
  get attempts(): number {
    return this.#attempts;
  }

  /** Undefined: none that is to be judged. */
  get forecast(): ArrivalForecast | undefined {
    return this.#forecast;
  }

  /** Phases reached so far; once it is settled, all of them. */
  get phases(): LatencyPhases {
    const leasedAtMs = this.#leasedAtMs;
    const sentAtMs = this.#sentAtMs;
    const settledAtMs = this.#settledAtMs;
    const { enqueuedAtMs } = this.#request;
    return {
      ...(leasedAtMs !== undefined && {
        queueWaitMs: leasedAtMs - enqueuedAtMs,
        batchWaitMs: this.#batchWaitMs,
      }),
      ...(sentAtMs !== undefined &&
        settledAtMs !== undefined && { grpcMs: settledAtMs - sentAtMs }),
      ...(this.#readyMs !== undefined && { readyMs: this.#readyMs }),
      ...(settledAtMs !== undefined && { totalMs: settledAtMs - enqueuedAtMs }),
    };
  }

  /** What is to be judged when it starts and ends; undefined: it shows no error any more. */
  expected(forecast: ArrivalForecast | undefined): void {
    this.#forecast = forecast;
  }

  /** @param batchWaitMs the part of its wait that a batch window caused */
  leased(workerId: string, nowMs: number, batchWaitMs = 0): void {
    if (this.#state !== 'queued') throw this.#misled('leased');
    this.#state = 'leased';
    this.#workerId = workerId;
    this.#leasedAtMs = nowMs;
    this.#batchWaitMs += batchWaitMs;
    this.#attempts += 1;
  }

  /** The call to its worker begins. */
  sent(nowMs: number): void {
    this.#sentAtMs = nowMs;
  }

  /** Its worker reports that it waited there for its group until `nowMs`. */
  grouped(nowMs: number, batchWaitMs: number): void {
    this.#leasedAtMs = nowMs;
    this.#sentAtMs = nowMs;
    this.#batchWaitMs += batchWaitMs;
  }

  /**
   * The times of the lost attempt are dropped, its age stays (D-06).
   * @param counted false: the request never reached the worker, so it was no attempt
   */
  requeued(counted = true): void {
    if (this.#state !== 'leased') throw this.#misled('queued');
    if (!counted) this.#attempts -= 1;
    this.#state = 'queued';
    this.#workerId = undefined;
    this.#leasedAtMs = undefined;
    this.#sentAtMs = undefined;
  }

  reprioritized(priority: RequestPriority): void {
    this.replaced({ ...this.#request, priority });
  }

  /** While it waited, its tenant came under suspicion (D-51); that stays, also when it is sent again. */
  suspected(): void {
    this.replaced({ ...this.#request, ...SUSPECT });
  }

  protected replaced(request: Q): void {
    this.#request = request;
  }

  /**
   * True the first time only, so that a promotion is counted once also
   * across re-queues (D-03).
   */
  promote(): boolean {
    const first = !this.#promoted;
    this.#promoted = true;
    return first;
  }

  /**
   * True exactly once; later settlements are dropped.
   * @param readyMs for preparation and waiting for the device, as the worker that
   *   answered reports them
   */
  settle(settlement: Settlement<R>, nowMs: number, readyMs?: number): boolean {
    if (this.#state === 'settled') return false;
    this.#state = 'settled';
    this.#settlement = settlement;
    this.#settledAtMs = nowMs;
    this.#readyMs = readyMs;
    return true;
  }

  #misled(to: RequestState): Error {
    return new Error(`Request ${this.#request.id} cannot go from ${this.#state} to ${to}.`);
  }
}
