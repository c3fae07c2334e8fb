import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import { type EventQueue } from '../event-queue.js';

/**
 * The instant of the simulation as clock and as rxjs scheduler, so that the core's own
 * timers run in virtual time.
 */
export class VirtualScheduler implements SchedulerLike {
  #nowMs = 0;

  constructor(private readonly events: EventQueue) {}

  now(): number {
    return this.#nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  /** Time only moves forward. */
  reached(nowMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, nowMs);
  }

  /** One firing; nothing here repeats. */
  schedule<T>(
    work: (this: SchedulerAction<T>, state: T) => void,
    delayMs = 0,
    state?: T,
  ): Subscription {
    const action = new Subscription();
    this.events.schedule(this.#nowMs + delayMs, nowMs => {
      this.reached(nowMs);
      if (!action.closed) work.call(action as SchedulerAction<T>, state as T);
    });
    return action;
  }
}
