/** Since when only the window delays the BATCH lane of a model: the start of `batch_wait`. */
export class WindowWait {
  readonly #sinceMs = new Map<string, number>();

  /** A slot is free but the window is open. */
  held(model: string, nowMs: number): void {
    if (!this.#sinceMs.has(model)) this.#sinceMs.set(model, nowMs);
  }

  /** The lane is sent, or there is no slot: the window is no longer the reason. */
  over(model: string): void {
    this.#sinceMs.delete(model);
  }

  /** Milliseconds of a request's wait that only the window caused. */
  waitedMs(model: string, enqueuedAtMs: number, nowMs: number): number {
    const sinceMs = this.#sinceMs.get(model);
    return sinceMs === undefined ? 0 : Math.max(0, nowMs - Math.max(sinceMs, enqueuedAtMs));
  }
}
