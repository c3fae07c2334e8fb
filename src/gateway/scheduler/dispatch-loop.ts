import { Injectable, Logger } from '@nestjs/common';
import { filter, map, merge, type Observable, type Subscription } from 'rxjs';
import { WindowTimers } from '../../core/batching/window-timers.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import type { WorkerTask } from '../worker-pool/worker-task.js';
import { RequestFailures } from './request-failures.js';
import { RequestRegistry } from './request-registry.js';
import { WorkerCalls } from './worker-calls.js';

/** Events after which another request may be the next. */
const WORK: ReadonlySet<DispatchEvent['type']> = new Set(['accepted', 'requeued', 'reprioritized']);

/** Everything that can make a decision possible: more requests, more capacity, or the timer. */
@Injectable()
export class LoopWakes {
  readonly wakes$: Observable<void>;

  constructor(
    events: DispatchEventBus,
    pool: WorkerPoolService,
    private readonly timers: WindowTimers,
  ) {
    const work$ = events.events$.pipe(filter(({ type }) => WORK.has(type)));
    this.wakes$ = merge(work$, pool.capacity$, timers.wakes$).pipe(map(() => undefined));
  }

  /** Monotonic instant of the next wake; undefined: none. */
  at(atMs: number | undefined): void {
    this.timers.wakeAt(atMs);
  }

  stop(): void {
    this.timers.stop();
  }
}

/**
 * Asks the dispatcher for plans and runs them, whenever something could have changed, and never otherwise: with nothing
 * to do it holds no timer. Wakes of one turn of the event loop are one turn here, so a burst of submits is decided
 * together.
 */
@Injectable()
export class DispatchLoop {
  readonly #logger = new Logger(DispatchLoop.name);
  #wakes: Subscription | undefined;
  #pending: NodeJS.Immediate | undefined;
  #turns = 0;

  constructor(
    private readonly dispatcher: Dispatcher<WorkerTask>,
    private readonly wakes: LoopWakes,
    private readonly calls: WorkerCalls,
    private readonly registry: RequestRegistry,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
  ) {}

  get running(): boolean {
    return this.#wakes !== undefined;
  }

  /** Turns so far: shows that the loop runs, and that it does not spin. */
  get turns(): number {
    return this.#turns;
  }

  /** Runs the first turn at once. Idempotent. */
  start(): void {
    if (this.#wakes) return;
    this.#wakes = this.wakes.wakes$.subscribe(() => this.wake());
    this.#turn();
  }

  /** Nothing leaves the queue any more. Running calls continue. Idempotent. */
  stop(): void {
    this.#wakes?.unsubscribe();
    this.#wakes = undefined;
    if (this.#pending) clearImmediate(this.#pending);
    this.#pending = undefined;
    this.wakes.stop();
  }

  /** Asks for a turn. Any number of calls until it comes are one. */
  wake(): void {
    if (!this.#wakes) return;
    this.#pending ??= setImmediate(() => {
      this.#pending = undefined;
      this.#turn();
    });
  }

  #turn(): void {
    this.#turns += 1;
    try {
      this.#promote();
      this.#expire();
      for (let plan = this.#next(); plan; plan = this.#next()) this.calls.run(plan);
      this.wakes.at(this.dispatcher.nextWakeMs(this.clock.nowMs()));
    } catch (error) {
      // A defect. The loop continues: the next wake tries again, and queue deadlines still end what cannot be sent.
      this.#logger.error({ err: error }, 'a turn of the dispatch loop failed');
    }
  }

  #next() {
    return this.dispatcher.next(this.clock.nowMs());
  }

  /** Counted when it happens, however the request ends (D-03). */
  #promote(): void {
    for (const request of this.dispatcher.aged(this.clock.nowMs())) {
      const tracked = this.registry.get(request.key);
      if (tracked) this.registry.promoted(tracked);
    }
  }

  #expire(): void {
    for (const request of this.dispatcher.expire(this.clock.nowMs())) {
      const tracked = this.registry.get(request.key);
      if (tracked) this.registry.settle(tracked, this.failures.expired(tracked));
    }
  }
}
