/** Aborts what it watches when nothing was heard for a while; the caller says so with `heard`, and ends it with `stop`. */
export class StallWatch {
  readonly #stall = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Aborts on a stall, and with the signal it was given. */
  readonly signal: AbortSignal;

  constructor(limitMs: number, outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.#stall.signal]);
    this.#timer = setTimeout(() => this.#stall.abort(), limitMs);
  }

  get stalled(): boolean {
    return this.#stall.signal.aborted;
  }

  heard(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
