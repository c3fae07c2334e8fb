import { Injectable } from '@nestjs/common';
import { type RequestKey } from '../../core/request/request-key.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { SharedQueue } from '../shared-queue/shared-queue.service.js';
import { RequestRegistry } from './request-registry.js';
import { RequestCanceller } from './request-canceller.js';
import { RequestFailures } from './request-failures.js';
import { type SharedRequest } from './shared-request.js';

/** Node fires a longer timer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Clockwork {
  timer: NodeJS.Timeout | undefined;
  /** Monotonic milliseconds. */
  queueDeadlineMs: number;
  takenAtMs: number | undefined;
}

/** The two deadlines of D-07 for requests in the shared queue: one runs while they wait, the other while a worker has them. */
@Injectable()
export class SharedDeadlines {
  readonly #running = new Map<RequestKey, Clockwork>();

  constructor(
    private readonly plane: SharedQueue,
    private readonly book: RequestRegistry,
    private readonly canceller: RequestCanceller,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
  ) {}

  waits(shared: SharedRequest): void {
    const { key, request } = shared.tracked;
    const clockwork = { timer: undefined, queueDeadlineMs: request.queueDeadlineMs, takenAtMs: undefined };
    this.#running.set(key, clockwork);
    this.#startQueue(clockwork, shared);
  }

  taken({ tracked: { key, request } }: SharedRequest): void {
    const clockwork = this.#running.get(key);
    if (!clockwork) return;
    clearTimeout(clockwork.timer);
    clockwork.takenAtMs = this.clock.nowMs();
    const delayMs = Math.min(request.inferenceTimeoutMs, MAX_TIMER_MS);
    clockwork.timer = setTimeout(() => void this.canceller.cancel(key, 'deadline'), delayMs);
  }

  /** Only waiting counts against the queue deadline, not the time that the dead worker had the request. */
  returned(shared: SharedRequest): void {
    const clockwork = this.#running.get(shared.tracked.key);
    if (clockwork?.takenAtMs === undefined) return;
    clearTimeout(clockwork.timer);
    clockwork.queueDeadlineMs += this.clock.nowMs() - clockwork.takenAtMs;
    clockwork.takenAtMs = undefined;
    this.#startQueue(clockwork, shared);
  }

  /** The worker is done; what is left is to bring the answer to its caller. */
  answered({ tracked: { key } }: SharedRequest): void {
    clearTimeout(this.#running.get(key)?.timer);
  }

  over({ tracked: { key } }: SharedRequest): void {
    clearTimeout(this.#running.get(key)?.timer);
    this.#running.delete(key);
  }

  /** Monotonic instant at which its worker took it. */
  takenAtMs(key: RequestKey): number | undefined {
    return this.#running.get(key)?.takenAtMs;
  }

  /** Requests of the model that wait, of this gateway. */
  waitingOf(model: string): number {
    const waiting = [...this.#running].filter(([key, { takenAtMs }]) => {
      return takenAtMs === undefined && this.book.get(key)?.request.model === model;
    });
    return waiting.length;
  }

  #startQueue(clockwork: Clockwork, shared: SharedRequest): void {
    const delayMs = Math.min(Math.max(0, clockwork.queueDeadlineMs - this.clock.nowMs()), MAX_TIMER_MS);
    clockwork.timer = setTimeout(() => this.#expire(shared), delayMs);
  }

  #expire({ tracked, ref }: SharedRequest): void {
    const { model } = tracked.request;
    const line = { hasReady: this.plane.hasReady(model), waiting: this.waitingOf(model) };
    if (this.book.settle(tracked, this.failures.expired(tracked.request, line))) {
      void this.plane.stop(ref, 'queue_timeout');
    }
  }
}
