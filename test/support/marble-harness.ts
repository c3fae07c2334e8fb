import { expect } from '@jest/globals';
import { Subject } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { BatchWindow } from '../../src/core/batching/batch-window.js';
import { WindowTimers } from '../../src/core/batching/window-timers.js';
import { type DispatchPlan } from '../../src/core/dispatch/dispatch-plan.js';
import { Dispatcher } from '../../src/core/dispatch/dispatcher.js';
import { Admission } from '../../src/core/queue/admission.js';
import { PriorityQueue } from '../../src/core/queue/priority-queue.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { FakeWorkers } from './fake-workers.js';
import { aRequest } from './requests.js';

type QueueBounds = ConstructorParameters<typeof Admission>[0];
type BatchWindowOptions = ConstructorParameters<typeof BatchWindow>[0];

export const GENEROUS_BOUNDS: QueueBounds = {
  maxRequests: 1_000_000,
  maxRequestsPerModel: 1_000_000,
  maxBytes: 1e12,
  maxBytesPerModel: 1e12,
  realtimeReserve: 0,
};

/** The defaults of the product: 8 per group, 50 ms window, 5 ms quiet gap (D-02). */
export const DEFAULT_WINDOW: BatchWindowOptions = {
  policy: 'adaptive',
  maxSize: 8,
  windowMs: 50,
  quietGapMs: 5,
};

export interface HarnessOptions extends Partial<BatchWindowOptions> {
  readonly agingMs?: number;
  readonly agingShare?: number;
  readonly bounds?: Partial<QueueBounds>;
}

/** The core put together over fake workers, without any time. */
export function aDispatcher(workers: FakeWorkers, options: HarnessOptions = {}) {
  const queue = new PriorityQueue({
    agingMs: options.agingMs ?? 30_000,
    agingShare: options.agingShare ?? 0.25,
  });
  let groups = 0;
  const dispatcher = new Dispatcher({
    queue,
    window: new BatchWindow({ ...DEFAULT_WINDOW, ...options }),
    admission: new Admission({ ...GENEROUS_BOUNDS, ...options.bounds }, () => 0),
    workers,
    newGroupId: () => `g${(groups += 1)}`,
  });
  return { queue, dispatcher };
}

export type Plan = DispatchPlan;

/** Everything that may go now, in order. Each plan is asked for when the one before is done with. */
export function* plansAt(dispatcher: Dispatcher, nowMs: number): Generator<Plan> {
  for (let plan = dispatcher.next(nowMs); plan; plan = dispatcher.next(nowMs)) yield plan;
}

/**
 * `a b quiet`: who goes together, and why. Another model than `m`, and a
 * promotion, are marked.
 */
export function describePlan({ members, reason }: Plan): string {
  const names = members.map(({ request, aged }) => request.id + (aged ? '!' : ''));
  return [...names, reason].join(' ');
}

/**
 * A dispatch loop in virtual time, to be drawn: letters arrive, plans leave. Capital
 * letters are REALTIME, small ones BATCH; `1` in the slots row gives all leases back, `x`
 * in the losses row re-queues what was sent last.
 */
export class MarbleHarness {
  readonly workers = new FakeWorkers();
  readonly plans: Plan[] = [];
  readonly #scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  readonly #timers: WindowTimers;
  readonly #sent = new Subject<string>();
  readonly #harness: ReturnType<typeof aDispatcher>;
  /** How often the loop was woken by its timer: proof that it does not spin. */
  wakes = 0;

  constructor(options: HarnessOptions = {}) {
    this.#harness = aDispatcher(this.workers, options);
    this.#timers = new WindowTimers({ nowMs: () => this.#scheduler.now() }, this.#scheduler);
  }

  get dispatcher(): Dispatcher {
    return this.#harness.dispatcher;
  }

  get queue(): PriorityQueue {
    return this.#harness.queue;
  }

  /**
   * Runs the picture; one column is 1 ms. In `sent`, each letter stands for the plan of
   * that name in `plans`.
   */
  expect(picture: {
    arrive: string;
    models?: Record<string, string>;
    slots?: string;
    losses?: string;
    drain?: string;
    sent: string;
    plans: Record<string, string>;
  }): void {
    this.#scheduler.run(({ hot, expectObservable }) => {
      hot(picture.arrive).subscribe(letter =>
        this.#arrive(letter, picture.models?.[letter] ?? 'm'),
      );
      hot(picture.slots ?? '').subscribe(() => this.#releaseAll());
      hot(picture.losses ?? '').subscribe(() => this.#loseLast());
      hot(picture.drain ?? '').subscribe(() => this.#drain());
      this.#timers.wakes$.subscribe(() => {
        this.wakes += 1;
        this.#turn();
      });
      expectObservable(this.#sent).toBe(picture.sent, picture.plans);
    });
  }

  #arrive(id: string, model: string): void {
    const nowMs = this.#scheduler.now();
    const priority = id === id.toUpperCase() ? RequestPriority.REALTIME : RequestPriority.BATCH;
    this.dispatcher.submit(aRequest(id, { model, priority, enqueuedAtMs: nowMs }), nowMs);
    this.#turn();
  }

  #releaseAll(): void {
    for (const plan of this.plans) plan.members.forEach(({ lease }) => lease.release());
    this.#turn();
  }

  #loseLast(): void {
    for (const { request, lease } of this.plans.at(-1)?.members ?? []) {
      lease.release();
      this.queue.restore(request);
    }
    this.#turn();
  }

  #drain(): void {
    this.dispatcher.draining();
    this.#turn();
  }

  #turn(): void {
    const nowMs = this.#scheduler.now();
    this.queue.aged(nowMs);
    for (const { id } of this.queue.expired(nowMs)) this.#sent.next(`${id} expired`);
    for (const plan of plansAt(this.dispatcher, nowMs)) {
      this.plans.push(plan);
      this.#sent.next(describePlan(plan));
    }
    this.#timers.wakeAt(this.dispatcher.nextWakeMs(nowMs));
  }
}
