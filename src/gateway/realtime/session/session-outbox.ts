import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { inDialect, type ServerEvent, CLOSE } from '../../../contracts/realtime/realtime-event.js';
import { type Dialect } from '../../../contracts/realtime/session-view.js';
import { type ClientSocket, MAX_BUFFERED_BYTES } from '../../websockets/client-socket.js';
import { EventRing } from '../journal/event-ring.js';
import { type SessionJournal } from '../journal/session-journal.js';
import { type AdoptedSession, type SentEvent } from '../journal/session-state.js';

/**
 * Events for the client: numbered, stored for a while, and sent while it is connected.
 */
export class SessionOutbox {
  /** Events that were sent or are about to be, for a client that resumes. */
  readonly events: EventRing;
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
      /** Delays events until it has written them; undefined: they are sent at once. */
      readonly journal: SessionJournal | undefined;
      readonly adopted: AdoptedSession | undefined;
    },
  ) {
    const { sessionId, adopted } = options;
    this.#prefix = `event_${sessionId.slice(5, 17)}`;
    this.events = new EventRing(MAX_BUFFERED_BYTES);
    this.#sent = adopted?.state.sent ?? 0;
    for (const event of adopted?.events ?? []) this.events.add(event);
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
    const json = writeJson({ ...translated, event_id: id });
    const { journal } = this.options;
    if (journal) journal.event({ id, json });
    else this.deliver({ id, json });
  }

  /** Resolves when all events so far have been sent. */
  async settled(): Promise<void> {
    await this.options.journal?.settled();
  }

  /** Sends an event; called when the journal, if there is one, has written it. */
  deliver(event: SentEvent): void {
    this.events.add(event);
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
   * Resolves when the client is connected and reads, so that long answers wait instead of
   * filling memory; or at the end.
   */
  async room(): Promise<void> {
    while (!this.#ended) {
      const socket = this.#socket;
      await socket?.drained();
      if (this.#ended || socket !== this.#socket) continue;
      if (socket?.open) return;
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
