import { asyncScheduler, type Observable, type SchedulerLike, Subject, type Subscription, timer } from 'rxjs';
import { type MonotonicClock } from '../shared/monotonic-clock.js';

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
    // Rounded up, because a timer that fires a fraction early finds its window still open.
    const delayMs = Math.min(Math.max(0, Math.ceil(atMs - this.#clock.nowMs())), MAX_DELAY_MS);
    const wake = timer(delayMs, this.#scheduler).subscribe(() => {
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
