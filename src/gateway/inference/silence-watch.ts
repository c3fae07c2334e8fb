/** Calls `onSilence` once when nothing was heard for `limitMs`, from the first sound on, unless `excused` at that time. */
export class SilenceWatch {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limitMs: number,
    private readonly onSilence: () => void,
    private readonly excused: () => boolean,
  ) {}

  heard(): void {
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#elapsed(), this.limitMs);
  }

  /** Harmless when it never began. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #elapsed(): void {
    if (this.excused()) this.#timer?.refresh();
    else this.onSilence();
  }
}
