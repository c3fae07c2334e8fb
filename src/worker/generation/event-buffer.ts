interface EventBufferOptions {
  /** Events that wait for a slow reader; from then on `onFull`, until `low` are left. */
  readonly high: number;
  readonly low: number;
  readonly onFull: () => void;
  readonly onRoom: () => void;
}

/**
 * What was made and not yet asked for. It never refuses: whoever fills it is told to
 * stop, and may bring a little more.
 */
export class EventBuffer<T> implements AsyncIterable<T> {
  readonly #options: EventBufferOptions;
  readonly #waiting: T[] = [];
  #isFull = false;
  #end: { readonly error?: Error } | undefined;
  #wake: () => void = () => undefined;

  constructor(options: EventBufferOptions) {
    this.#options = options;
  }

  push(...events: readonly T[]): void {
    if (this.#end) return;
    this.#waiting.push(...events);
    this.#wake();
    if (this.#isFull || this.#waiting.length < this.#options.high) return;
    this.#isFull = true;
    this.#options.onFull();
  }

  /** After what waits; with `error`, instead of it. The first end counts. */
  end(error?: Error): void {
    if (this.#end) return;
    this.#end = error ? { error } : {};
    if (error) this.clear();
    this.#wake();
  }

  /** Discards what waits. */
  clear(): void {
    this.#waiting.length = 0;
  }

  /** For one reader. @throws what it was ended with */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#tellRoom();
        yield next;
      } else if (this.#end) {
        if (this.#end.error) throw this.#end.error;
        return;
      } else await new Promise<void>(resolve => (this.#wake = resolve));
    }
  }

  #tellRoom(): void {
    if (!this.#isFull || this.#waiting.length > this.#options.low) return;
    this.#isFull = false;
    this.#options.onRoom();
  }
}
