import { type MonotonicClock } from '../../core/batching/window-timers.js';
import { abortError } from '../../core/errors/abort-error.js';
import { type PlacedWork, WorkQueue } from './work-queue.js';

/**
 * A fixed number of pieces of work at a time, REALTIME first, then arrival: CPU work on
 * items before the device, and generations.
 */
export class PrepStage {
  readonly #waiting = new WorkQueue<PlacedWork & { enter(): void }>();
  running = 0;

  /** @param parallel items prepared at the same time (4) */
  constructor(
    private readonly parallel: number,
    private readonly clock: MonotonicClock,
  ) {}

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Rejects with the abort's error while waiting; once running, `work` itself has to
   * obey the signal.
   * @returns `prepMs`: the work alone, without the wait before it
   */
  async run<Value>(
    place: PlacedWork,
    signal: AbortSignal,
    work: () => Promise<Value>,
  ): Promise<{ readonly value: Value; readonly prepMs: number }> {
    if (signal.aborted) throw abortError(signal);
    if (this.running >= this.parallel) await this.#turn(place, signal);
    else this.running += 1;
    const startedMs = this.clock.nowMs();
    try {
      const value = await work();
      return { value, prepMs: this.clock.nowMs() - startedMs };
    } finally {
      this.#leave();
    }
  }

  #turn(place: PlacedWork, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        this.#waiting.remove(waiter);
        reject(abortError(signal));
      };
      const enter = (): void => {
        signal.removeEventListener('abort', abandon);
        resolve();
      };
      const waiter = { ...place, enter };
      signal.addEventListener('abort', abandon, { once: true });
      this.#waiting.add(waiter);
    });
  }

  /**
   * The place goes straight to the next waiting item, so a newcomer cannot overtake it.
   */
  #leave(): void {
    const [next] = this.#waiting.take(1, this.clock.nowMs());
    if (next) next.enter();
    else this.running -= 1;
  }
}
