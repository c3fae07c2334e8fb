import { expect } from '@jest/globals';
import { Subject } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { WindowTimers } from '../../src/core/batching/window-timers.js';
import { type Dispatcher } from '../../src/core/dispatch/dispatcher.js';
import { type PriorityQueue } from '../../src/core/queue/priority-queue.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import {
  aDispatcher,
  describePlan,
  type HarnessOptions,
  type Plan,
  plansAt,
} from './dispatcher-harness.js';
import { FakeWorkers } from './fake-workers.js';
import { aRequest } from './requests.js';

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
