import { type RequestPriority } from './request-priority.js';
import { type ScheduledRequest } from './scheduled-request.js';
import { type Settlement } from './settlement.js';

export type RequestState = 'queued' | 'leased' | 'settled';

/**
 * State of one accepted request: queued → leased → settled, and back to queued when its worker died (D-06).
 *
 * Enforces D-04: `settle` is true exactly once, whichever of reply, deadline, cancel and shutdown comes first. An
 * invalid transition is a defect of the caller and throws.
 */
export class RequestLifecycle<P = unknown, R = unknown> {
  #state: RequestState = 'queued';
  #attempts = 0;
  #workerId: string | undefined;
  #promoted = false;
  #settlement: Settlement<R> | undefined;
  #request: ScheduledRequest<P>;

  constructor(request: ScheduledRequest<P>) {
    this.#request = request;
  }

  get request(): ScheduledRequest<P> {
    return this.#request;
  }

  get state(): RequestState {
    return this.#state;
  }

  /** How often the request was sent to a worker. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The worker that has it, or had it last when settled; undefined while it waits. */
  get workerId(): string | undefined {
    return this.#workerId;
  }

  get promoted(): boolean {
    return this.#promoted;
  }

  get settlement(): Settlement<R> | undefined {
    return this.#settlement;
  }

  leased(workerId: string): void {
    this.#expect('queued', 'leased');
    this.#state = 'leased';
    this.#workerId = workerId;
    this.#attempts += 1;
  }

  /** @param counted false: the request never reached the worker, so it was no attempt */
  requeued(counted = true): void {
    this.#expect('leased', 'queued');
    if (!counted) this.#attempts -= 1;
    this.#state = 'queued';
    this.#workerId = undefined;
  }

  reprioritized(priority: RequestPriority): void {
    this.#request = { ...this.#request, priority };
  }

  /** True the first time only, so that a promotion is counted once also across re-queues (D-03). */
  promote(): boolean {
    const first = !this.#promoted;
    this.#promoted = true;
    return first;
  }

  /** True exactly once; later settlements are dropped. */
  settle(settlement: Settlement<R>): boolean {
    if (this.#state === 'settled') return false;
    this.#state = 'settled';
    this.#settlement = settlement;
    return true;
  }

  #expect(from: RequestState, to: RequestState): void {
    if (this.#state === from) return;
    throw new Error(`Request ${this.request.id} cannot go from ${this.#state} to ${to}.`);
  }
}
