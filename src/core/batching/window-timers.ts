import { asyncScheduler, type Observable, type SchedulerLike, Subject, type Subscription, timer } from 'rxjs';
import { type MonotonicClock } from '../shared/monotonic-clock.js';
import { TIMER_RESOLUTION_MS } from './batch-window.js';

/** Node fires a longer delay at once. Waking early is harmless: whoever wakes asks again. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Wakes the dispatch loop at one instant, and never decides anything (D-02, D-03). Holds at most one armed timer. */
export class WindowTimers {
  readonly #clock: MonotonicClock;
  readonly #scheduler: SchedulerLike;
  readonly #wakes = new Subject<void>();
  #armed: { readonly atMs: number; readonly timer: Subscription } | undefined;

  readonly wakes$: Observable<void> = this.#wakes.asObservable();

  constructor(clock: MonotonicClock, scheduler: SchedulerLike = asyncScheduler) {
    this.#clock = clock;
    this.#scheduler = scheduler;
  }

  /** Arms the timer for a monotonic instant in place of the one before; undefined disarms. A past instant wakes next turn. */
  wakeAt(atMs: number | undefined): void {
    if (atMs === this.#armed?.atMs) return;
    this.stop();
    if (atMs === undefined || atMs === Infinity) return;
    const wake = timer(delayTo(atMs, this.#clock.nowMs()), this.#scheduler).subscribe(() => {
      this.#armed = undefined;
      this.#wakes.next();
    });
    this.#armed = { atMs, timer: wake };
  }

  /** Disarms. May be armed again afterwards. */
  stop(): void {
    this.#armed?.timer.unsubscribe();
    this.#armed = undefined;
  }
}

/**
 * Rounded down, as Node adds up to a tick of its own; a window accepts a wake that is less than a tick early. What insists on its
 * instant is woken once more, a whole tick later: being early never makes the loop spin.
 */
function delayTo(atMs: number, nowMs: number): number {
  if (atMs <= nowMs) return 0;
  return Math.min(Math.max(TIMER_RESOLUTION_MS, Math.floor(atMs - nowMs)), MAX_DELAY_MS);
}
