import { type Backoff, backoffMs } from '../backoff.js';

export interface RestartOptions extends Backoff {
  /** 0 to 1, for the jitter. */
  readonly random?: () => number;
}

/** Pauses between the starts of one process. */
export class RestartBackoff {
  #starts = 0;

  constructor(private readonly options: RestartOptions) {}

  /** Milliseconds to wait before the next start. */
  nextMs(): number {
    this.#starts += 1;
    return backoffMs(this.#starts, this.options, this.options.random);
  }

  /** The longest pause: for a process that says that it cannot start. */
  get longestMs(): number {
    return this.options.longestMs;
  }

  reset(): void {
    this.#starts = 0;
  }
}
