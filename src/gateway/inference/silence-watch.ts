/**
 * Calls `onSilence` once when no output came for `limitMs`, counted from the first output on, unless `excused` then.
 */
export class SilenceWatch {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limitMs: number,
    private readonly onSilence: () => void,
    private readonly excused: () => boolean,
  ) {}

  /** Starts or restarts the limit. */
  restart(): void {
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#elapsed(), this.limitMs);
  }

  /** Harmless when it never started. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #elapsed(): void {
    if (this.excused()) this.#timer?.refresh();
    else this.onSilence();
  }
}
