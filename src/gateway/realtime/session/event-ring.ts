/** One event as it was written to the socket. */
export interface SentEvent {
  readonly id: string;
  readonly json: string;
}

export interface EventRingLimits {
  readonly events: number;
  readonly bytes: number;
}

/** The last events of a session, for a client that comes back (README "Resume"). The oldest go when a bound is reached. */
export class EventRing {
  readonly #events: SentEvent[] = [];
  #bytes = 0;

  constructor(private readonly limits: EventRingLimits) {}

  add(event: SentEvent): void {
    this.#events.push(event);
    this.#bytes += event.json.length;
    while (this.#events.length > this.limits.events || this.#bytes > this.limits.bytes) this.#drop();
  }

  get all(): readonly SentEvent[] {
    return this.#events;
  }

  /**
   * The events after `lastId`, in order.
   * @returns undefined when it is gone, and so perhaps are some after it, or there never was such an event.
   */
  after(lastId: string): readonly SentEvent[] | undefined {
    const at = this.#events.findIndex(({ id }) => id === lastId);
    return at === -1 ? undefined : this.#events.slice(at + 1);
  }

  #drop(): void {
    const oldest = this.#events.shift();
    if (oldest) this.#bytes -= oldest.json.length;
  }
}
