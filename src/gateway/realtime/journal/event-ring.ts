import { type SentEvent } from './session-state.js';

/** Events stored for a client that resumes. */
const STORED_EVENTS = 2000;

/**
 * The last events of a session, for a client that resumes. The oldest are dropped when a
 * limit is reached.
 */
export class EventRing {
  readonly #events: SentEvent[] = [];
  #bytes = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly maxEvents = STORED_EVENTS,
  ) {}

  /** @returns the number of events that were dropped for it */
  add(event: SentEvent): number {
    this.#events.push(event);
    this.#bytes += event.json.length;
    const before = this.#events.length;
    while (this.#events.length > this.maxEvents || this.#bytes > this.maxBytes)
      this.#bytes -= this.#events.shift()!.json.length;
    return before - this.#events.length;
  }

  /** Oldest first. */
  get all(): readonly SentEvent[] {
    return this.#events;
  }

  /**
   * The events after `lastId`, in order.
   * @returns undefined when it is gone, and so perhaps are some after it, or there never
   *   was such an event.
   */
  after(lastId: string): readonly SentEvent[] | undefined {
    const at = this.#events.findIndex(({ id }) => id === lastId);
    return at === -1 ? undefined : this.#events.slice(at + 1);
  }
}
