import { Injectable, Logger } from '@nestjs/common';
import { type Subscription } from 'rxjs';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { EmbeddedQueue } from '../queue/embedded-queue.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { WorkerCalls } from './worker-calls.js';

/** Events after which another request may be the next. */
const WORK = ['accepted', 'requeued', 'reprioritized'] as const;

/**
 * Asks the queue for plans and runs them, whenever something could have changed
 * (more requests, more capacity, or the timer), and never otherwise: with nothing to do
 * it holds no timer. Wakes of one turn of the event loop are one turn here, so a burst of
 * submits is decided together.
 */
@Injectable()
export class DispatchLoop {
  readonly #logger = new Logger(DispatchLoop.name);
  #wakes: Subscription | undefined;
  #pending: NodeJS.Immediate | undefined;
  #turns = 0;

  constructor(
    private readonly queue: EmbeddedQueue,
    private readonly calls: WorkerCalls,
    private readonly events: DispatchEventBus,
    private readonly pool: WorkerPoolService,
  ) {}

  get running(): boolean {
    return this.#wakes !== undefined;
  }

  /** Turns so far: shows that the loop runs and does not spin. */
  get turns(): number {
    return this.#turns;
  }

  /** Runs the first turn at once. Idempotent. */
  start(): void {
    if (this.#wakes) return;
    this.#wakes = this.pool.capacity$.subscribe(this.wake);
    this.#wakes.add(this.queue.due$.subscribe(this.wake));
    for (const type of WORK) this.#wakes.add(this.events.on(type, this.wake));
    this.#turn();
  }

  /** Nothing leaves the queue any more. Running calls continue. Idempotent. */
  stop(): void {
    this.#wakes?.unsubscribe();
    this.#wakes = undefined;
    if (this.#pending) clearImmediate(this.#pending);
    this.#pending = undefined;
    this.queue.stopTimer();
  }

  /**
   * Asks for a turn; calls until it comes count as one. Does nothing while no request waits: a
   * timer that is still armed finds nothing either.
   */
  readonly wake = (): void => {
    if (!this.#wakes || this.queue.isEmpty) return;
    this.#pending ??= setImmediate(this.#turn);
  };

  /** From now on windows close at once: the queue is sent while time remains. */
  flush(): void {
    this.queue.closeWindows();
    this.wake();
  }

  /** One turn: sends every request that may leave the queue now. */
  readonly #turn = (): void => {
    this.#pending = undefined;
    this.#turns += 1;
    try {
      for (const plan of this.queue.plans()) this.calls.run(plan);
    } catch (error) {
      // A defect. The loop continues: the next wake tries again, and queue deadlines
      // still end what cannot be sent.
      this.#logger.error({ err: error }, 'a turn of the dispatch loop failed');
    }
  };
}
