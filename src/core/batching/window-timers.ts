import { asyncScheduler, type SchedulerLike, Subject, type Subscription, timer } from 'rxjs';
import { TIMER_RESOLUTION_MS } from './batch-window.js';

/**
 * Milliseconds on a clock that never goes backwards. Comparable only with values of
 * the same clock.
 */
export interface MonotonicClock {
  nowMs(): number;
}

/**
 * Node fires longer delays at once. An early wake is harmless: the loop decides again.
 */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * Wakes the dispatch loop at a given time and never decides anything (D-02, D-03). Arms
 * at most one timer.
 */
export class WindowTimers {
  readonly #wakes = new Subject<void>();
  #armed: { readonly atMs: number; readonly timer: Subscription } | undefined;

  readonly wakes$ = this.#wakes.asObservable();

  constructor(
    private readonly clock: MonotonicClock,
    private readonly scheduler: SchedulerLike = asyncScheduler,
  ) {}

  /**
   * Re-arms the timer for a monotonic time; undefined disarms it. A past time wakes in
   * the next turn.
   */
  wakeAt(atMs: number | undefined): void {
    if (atMs === this.#armed?.atMs) return;
    this.stop();
    if (atMs === undefined || atMs === Infinity) return;
    const wake = timer(delayTo(atMs, this.clock.nowMs()), this.scheduler).subscribe(() => {
      this.#armed = undefined;
      this.#wakes.next();
    });
    this.#armed = { atMs, timer: wake };
  }

  /** Disarms the timer; it can be armed again. */
  stop(): void {
    this.#armed?.timer.unsubscribe();
    this.#armed = undefined;
  }
}

/**
 * Rounded down, as Node adds up to one tick; a window accepts a wake less than a tick
 * early. Aging and deadlines are woken once more, a whole tick later, so an early wake
 * never makes the loop spin.
 */
function delayTo(atMs: number, nowMs: number): number {
  if (atMs <= nowMs) return 0;
  return Math.min(Math.max(TIMER_RESOLUTION_MS, Math.floor(atMs - nowMs)), MAX_DELAY_MS);
}
