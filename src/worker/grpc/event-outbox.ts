/** Events wait here for a caller that reads slowly; from this many on, no more of its audio is taken. */
const MOST_WAITING = 64;

/** Sends one stream's events in order, one after another, while its audio is worked on. */
export class EventOutbox<Event> {
  readonly #waiting: Event[] = [];
  #sending: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(private readonly send: (event: Event) => Promise<void>) {}

  put(event: Event): void {
    if (this.#failure) return;
    this.#waiting.push(event);
    this.#sending ??= this.#sendAll();
  }

  /** Resolves when there is room for the events of more audio. @throws what sending threw. */
  async room(): Promise<void> {
    if (this.#waiting.length >= MOST_WAITING) await this.#sending;
    this.#throwFailure();
  }

  /** Resolves when all has been sent. @throws what sending threw. */
  async empty(): Promise<void> {
    await this.#sending;
    this.#throwFailure();
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    try {
      for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift())
        await this.send(event);
    } catch (error) {
      this.#failure = { error };
      this.#waiting.length = 0;
    } finally {
      this.#sending = undefined;
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
