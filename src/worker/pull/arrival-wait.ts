import { type Redis } from 'ioredis';

/** How much later than asked Redis may end a wait by itself, before the connection counts as dead. */
const OVERDUE_MS = 2000;

/**
 * Told of arrivals in one BullMQ queue: `BZPOPMIN` on its marker key, on a connection of its own, so that nothing is asked in a loop.
 * Redis looks at its timeouts ten times a second, so short waits, and those that nobody wants any more, are ended by `CLIENT
 * UNBLOCK`. Whoever was told must look into the queue: the marker is gone, and taking a job puts it back.
 */
export class ArrivalWait {
  readonly #blocked: Redis;
  readonly #control: Redis;
  readonly #marker: string;
  #clientId: number | undefined;
  #waiting = false;

  constructor(options: { readonly blocked: Redis; readonly control: Redis; readonly marker: string }) {
    this.#blocked = options.blocked;
    this.#control = options.control;
    this.#marker = options.marker;
    this.#blocked.on('ready', () => void this.#introduce());
    this.#blocked.on('close', () => (this.#clientId = undefined));
    if (this.#blocked.status === 'ready') void this.#introduce();
  }

  /** True: something came. One wait at a time. @throws when the connection broke */
  async within(waitMs: number): Promise<boolean> {
    this.#waiting = true;
    const short = setTimeout(() => this.end(), waitMs);
    // A connection that broke without a word would wait for ever.
    const overdue = setTimeout(() => this.#blocked.disconnect(true), waitMs + OVERDUE_MS);
    try {
      return (await this.#blocked.bzpopmin(this.#marker, Math.max(0.001, waitMs / 1000))) !== null;
    } finally {
      this.#waiting = false;
      clearTimeout(short);
      clearTimeout(overdue);
    }
  }

  /** The wait under way ends now, as if nobody had come. */
  end(): void {
    if (!this.#waiting || this.#clientId === undefined) return;
    this.#control.call('CLIENT', 'UNBLOCK', String(this.#clientId), 'TIMEOUT').catch(() => undefined);
  }

  async #introduce(): Promise<void> {
    const id = await this.#blocked.client('ID').catch(() => undefined);
    this.#clientId = id;
  }
}
