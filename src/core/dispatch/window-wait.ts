/** Remembers since when the window, and nothing else, holds a model's BATCH lane back: what `batch_wait` is measured from. */
export class WindowWait {
  readonly #sinceMs = new Map<string, number>();

  /** A slot is free but the window is open. */
  held(model: string, nowMs: number): void {
    if (!this.#sinceMs.has(model)) this.#sinceMs.set(model, nowMs);
  }

  /** The lane goes, or there is no slot: from now on the window is not the reason. */
  over(model: string): void {
    this.#sinceMs.delete(model);
  }

  /** Milliseconds of a request's wait that the window alone is to blame for. */
  waitedMs(model: string, enqueuedAtMs: number, nowMs: number): number {
    const sinceMs = this.#sinceMs.get(model);
    return sinceMs === undefined ? 0 : Math.max(0, nowMs - Math.max(sinceMs, enqueuedAtMs));
  }
}
