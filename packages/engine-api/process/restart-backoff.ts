import { type Backoff, backoffMs } from '../backoff.js';

/** Pauses between the starts of one process. */
export class RestartBackoff {
  #starts = 0;

  /** @param options `random`: 0 to 1, for the jitter */
  constructor(private readonly options: Backoff & { readonly random?: () => number }) {}

  /**
   * Milliseconds to wait before the next start.
   * @param isExcused the process is not at fault: the pause does not grow
   */
  nextMs(isExcused = false): number {
    if (!isExcused || this.#starts === 0) this.#starts += 1;
    return backoffMs(this.#starts, this.options, this.options.random);
  }

  /** The longest pause, for a process that reports that it cannot start. */
  get longestMs(): number {
    return this.options.longestMs;
  }

  reset(): void {
    this.#starts = 0;
  }
}
