import {
  inDialect,
  type ServerEvent,
  CLOSE,
} from '../../../contracts/realtime/realtime-event.js';
import { type Dialect } from '../../../contracts/realtime/session-view.js';
import { type SessionJournal } from '../journal/session-journal.js';
import { type AdoptedSession } from '../journal/session-state.js';
import { type ClientSocket } from '../../websockets/client-socket.js';

/** One event as it was written to the socket. */
interface SentEvent {
  readonly id: string;
  readonly json: string;
}

/**
 * The last events of a session, for a client that resumes. The oldest are dropped when a
 * limit is reached.
 */
export class EventRing {
  readonly #events: SentEvent[] = [];
  #bytes = 0;

  constructor(
    private readonly limits: { readonly events: number; readonly bytes: number },
  ) {}

  add(event: SentEvent): void {
    this.#events.push(event);
    this.#bytes += event.json.length;
    while (this.#events.length > this.limits.events || this.#bytes > this.limits.bytes)
      this.#bytes -= this.#events.shift()!.json.length;
  }

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

/** Events stored for a client that resumes. */
const STORED_EVENTS = 2000;

/**
 * Events for the client: numbered, stored for a while, and sent while it is connected.
 */
export class SessionOutbox {
  readonly #ring: EventRing;
  readonly #prefix: string;
  #socket: ClientSocket | undefined;
  #sent: number;
  #attached: (() => void)[] = [];
  #ended = false;

  /** @param session its events are sent in its current dialect */
  constructor(
    private readonly session: { readonly dialect: Dialect },
    private readonly options: {
      readonly sessionId: string;
      readonly maxBufferedBytes: number;
      /** Events are sent once it has written them. */
      readonly journal: SessionJournal | undefined;
      readonly adopted: AdoptedSession | undefined;
    },
  ) {
    const { sessionId, maxBufferedBytes, adopted } = options;
    this.#prefix = `event_${sessionId.slice(5, 17)}`;
    this.#ring = new EventRing({ events: STORED_EVENTS, bytes: maxBufferedBytes });
    this.#sent = adopted?.state.sent ?? 0;
    for (const json of adopted?.events ?? [])
      this.#ring.add({ id: (JSON.parse(json) as { event_id: string }).event_id, json });
  }

  /** Events numbered so far. */
  get sent(): number {
    return this.#sent;
  }

  /**
   * Sends, or stores for later. A client that does not read is closed with 1013; nothing
   * more is buffered for it.
   */
  send(event: ServerEvent): void {
    const translated = inDialect(event, this.session.dialect);
    if (!translated) return;
    const id = `${this.#prefix}_${++this.#sent}`;
    const json = JSON.stringify({ ...translated, event_id: id });
    const { journal } = this.options;
    if (journal) journal.event(json, () => this.#deliver({ id, json }));
    else this.#deliver({ id, json });
  }

  /** The stored events as JSON, oldest first. */
  get storedEvents(): readonly string[] {
    return this.#ring.all.map(({ json }) => json);
  }

  /** Resolves when all events so far have been sent. */
  async settled(): Promise<void> {
    await this.options.journal?.settled();
  }

  #deliver(event: SentEvent): void {
    this.#ring.add(event);
    this.#socket?.send(event.json);
    if (this.#socket?.overfull)
      this.#socket.close(CLOSE.tryAgainLater, 'events are not being read');
  }

  attach(socket: ClientSocket): void {
    this.#socket = socket;
    this.#wake();
  }

  detach(socket: ClientSocket): void {
    if (this.#socket === socket) this.#socket = undefined;
  }

  /**
   * @returns what the client missed, as JSON; undefined when some of it is
   *   no longer stored.
   */
  missedSince(lastEventId: string): readonly string[] | undefined {
    return this.#ring.after(lastEventId)?.map(({ json }) => json);
  }

  /**
   * Resolves when the client is connected and reads, so that long answers wait instead of
   * filling memory; or at the end.
   */
  async room(): Promise<void> {
    while (!this.#ended) {
      const socket = this.#socket;
      await socket?.drained();
      if (socket?.open && socket === this.#socket) return;
      await new Promise<void>(resolve => this.#attached.push(resolve));
    }
  }

  /** @param resumable another gateway may continue the session */
  end(resumable: boolean): void {
    this.#ended = true;
    this.options.journal?.stop(resumable);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#attached.splice(0)) resolve();
  }
}
