import { ActiveTimeout } from '../../platform/process/active-timeout.js';

/**
 * Calls `onSilence` once when no output came for `limitMs`, counted from the first output
 * on, unless `excused` then.
 */
export class SilenceWatch {
  readonly #timer: ActiveTimeout;

  constructor(limitMs: number, onSilence: () => void, excused: () => boolean) {
    this.#timer = new ActiveTimeout(limitMs, () =>
      excused() ? this.restart() : onSilence(),
    );
  }

  /** Starts or restarts the limit. */
  restart(): void {
    this.#timer.restart();
  }

  /** Harmless when it never started. */
  stop(): void {
    this.#timer.stop();
  }
}
