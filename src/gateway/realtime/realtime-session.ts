import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Logger } from '@nestjs/common';
import {
  errorEvent,
  ignoredWarning,
  type ServerEvent,
  warningEvent,
  CLOSE,
  type CloseCode,
} from '../../contracts/realtime/realtime-event.js';
import { type SessionConfig } from '../../contracts/realtime/session-config.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Principal } from '../../platform/auth/principal.js';
import { type ClientSocket } from '../websockets/client-socket.js';
import { type JournaledSession, type SessionJournal } from './journal/session-journal.js';
import { type SessionJournals } from './journal/session-journals.js';
import {
  type JournalAudio,
  secretDigest,
  type SentEvent,
  type SessionState,
} from './journal/session-state.js';
import { RecogniserStreams } from './session/recogniser-streams.js';
import { type SessionActions, type SpokenText } from './session/session-actions.js';
import { type SessionFact } from './session/session-activity.js';
import { SessionConnection } from './session/session-connection.js';
import { type NewSession, SessionCore } from './session/session-core.js';
import { SessionOutbox } from './session/session-outbox.js';
import { type SessionServices } from './session/session-services.js';
import { SpokenResponse } from './session/spoken-response.js';

/** For the last segment of a session that ends by its own limits. */
const FLUSH_MS = 5000;

/** The owner of the sessions. */
interface SessionHost {
  readonly journals: SessionJournals;
  /** @param released resolves when its streaming slot is free */
  ended(session: RealtimeSession, released: Promise<void>): void;
  /**
   * A slot of `model` is being released, if necessary by ending a detached session.
   * @returns false: none
   */
  slotComing(model: string): boolean;
}

/**
 * One live session through all its connections, until one of its ends. What happens is
 * handed to its core, which tells what to do about it.
 *
 * Who writes what: the core its configuration and items, the streams its slot at a worker,
 * the outbox what was sent, the connection whether its client is there. `resume` replaces the
 * connection, and the caller that counts, while the rest goes on.
 * Who ends it: `end`, once, whoever comes first: its client, its age or silence, no client
 * within the time to resume, an error, a key that was withdrawn, another gateway that took
 * it, or the end of this one.
 */
export class RealtimeSession implements JournaledSession, SessionActions {
  readonly #logger = new Logger(RealtimeSession.name);
  readonly id: string;
  /** Unix seconds. */
  readonly startedAt = Math.floor(Date.now() / 1000);
  /** Of the current connection, or of the last one. */
  owner: Principal;
  response: SpokenResponse | undefined;
  /** Required to resume the session. */
  readonly #secret: string;
  readonly #expiresAtMs: number;
  readonly #core: SessionCore;
  readonly #streams: RecogniserStreams;
  readonly #journal: SessionJournal | undefined;
  readonly #outbox: SessionOutbox;
  readonly connection: SessionConnection;
  readonly #life: NodeJS.Timeout;
  #ended = false;

  constructor(
    private readonly wanted: NewSession,
    private readonly services: SessionServices,
    private readonly host: SessionHost,
  ) {
    const { adopted } = wanted;
    const limits = services.settings.realtime;
    const lifeMs = adopted ? adopted.session.state.expiresAtMs - Date.now() : limits.maxSessionMs;
    this.id = adopted?.id ?? `sess_${randomBytes(12).toString('hex')}`;
    this.#secret = adopted?.secret ?? randomBytes(24).toString('base64url');
    this.#expiresAtMs = Date.now() + lifeMs;
    this.owner = wanted.owner;
    this.#core = new SessionCore(wanted, services, this, {
      id: this.id,
      resume: { secret: this.#secret, window_seconds: limits.resumeWindowMs / 1000 },
      expiresAt: Math.floor(this.#expiresAtMs / 1000),
      idleTimeoutSeconds: limits.idleTimeoutMs / 1000,
    });
    this.#streams = new RecogniserStreams(this.#core, this, {
      recognisers: services.recognisers,
      recoveryMs: limits.recoveryMs,
      slotComing: model => host.slotComing(model),
      run: act => this.#run(act),
    });
    this.#journal = host.journals.open(this, adopted?.session);
    this.#outbox = new SessionOutbox(this.#core, {
      sessionId: this.id,
      journal: this.#journal,
      adopted: adopted?.session,
    });
    this.connection = new SessionConnection(this.#outbox, limits, {
      received: message => this.#received(message),
      silent: reason => this.#expire(reason),
      left: reason => void this.end(CLOSE.normal, reason),
    });
    this.#life = setTimeout(() => this.#expire(`the session is ${lifeMs / 1000} s old`), lifeMs);
  }

  get config(): SessionConfig {
    return this.#core.config;
  }

  /** True while it holds a streaming slot. */
  get live(): boolean {
    return this.#streams.live;
  }

  /** Milliseconds of audio received so far. */
  get receivedMs(): number {
    return this.#core.recognition.receivedMs;
  }

  get state(): SessionState {
    const { tenant, keyId } = this.wanted.owner;
    return {
      v: 1,
      tenant,
      secretSha256: secretDigest(this.#secret),
      expiresAtMs: this.#expiresAtMs,
      ...(keyId !== undefined && { keyId }),
      config: this.config,
      dialect: this.#core.dialect,
      sent: this.#outbox.sent,
      items: this.#core.recognition.items.state,
      input: this.#core.recognition.state,
    };
  }

  get past(): JournaledSession['past'] {
    return {
      events: this.#outbox.events.all,
      audio: this.#core.recognition.storedAudio,
    };
  }

  deliver(event: SentEvent): void {
    this.#outbox.deliver(event);
  }

  hasSecret(secret: string): boolean {
    const [given, own] = [Buffer.from(secret), Buffer.from(this.#secret)];
    return given.length === own.length && timingSafeEqual(given, own);
  }

  /**
   * Of a session that another gateway began: recognition continues, and the session waits
   * for its client.
   */
  restore(): void {
    if (this.#core.recognition.begun) void this.#streams.reconnect(0, true);
    this.connection.detached();
  }

  /**
   * The first connection. @param ignored paths of fields that it named and that
   * have no effect
   */
  begin(socket: ClientSocket, createdType: string, ignored: readonly string[]): void {
    this.connection.attach(socket);
    this.send({ type: createdType, session: this.#core.view });
    if (ignored.length > 0) this.send(ignoredWarning(ignored));
  }

  /**
   * Continues on a new connection: first the missed events, then how much
   * audio has arrived.
   * @param lastEventId empty: missed events are not requested
   * @throws DomainError `session_not_found` when missed events are no longer stored; the
   *   session waits for another attempt.
   */
  resume(socket: ClientSocket, lastEventId: string, owner: Principal): void {
    const missed = lastEventId === '' ? [] : this.#outbox.events.after(lastEventId);
    if (!missed)
      throw new DomainError(
        'session_not_found',
        'Events after `last_event_id` are no longer stored; resume without it to continue from here.',
        { param: 'last_event_id' },
      );
    this.owner = owner;
    this.connection.replace(socket, missed);
    this.send({
      type: 'session.resumed',
      session: this.#core.view,
      audio_received_ms: this.receivedMs,
    });
  }

  /** Sends the error and ends. */
  fail(error: DomainError, code: CloseCode): void {
    this.send(errorEvent(error));
    void this.end(code, error.code);
  }

  /** Another gateway has the session. */
  taken(): void {
    void this.end(CLOSE.policyViolation, 'resumed on another gateway');
  }

  /**
   * Sends a warning, finishes the current segment, then ends. Never rejects.
   * @param flushMs for the last segment
   * @param closeMs for the client's answer to the close frame
   */
  async leave(
    code: CloseCode,
    reason: string,
    flushMs = FLUSH_MS,
    closeMs?: number,
  ): Promise<void> {
    this.send(warningEvent('session_ending', reason));
    this.response?.cancel('client_cancelled');
    await this.#streams.flush(flushMs);
    await this.#outbox.settled();
    await this.end(code, reason, closeMs);
  }

  /**
   * Ends at once. Idempotent.
   * @param closeMs a client that does not answer the close frame is disconnected after it
   */
  async end(code: CloseCode, reason: string, closeMs?: number): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#life);
    this.response?.cancel('client_cancelled');
    this.#outbox.end(code === CLOSE.goingAway);
    this.connection.close(code, reason, closeMs);
    const cancelled = this.#streams.cancel();
    this.wanted.ticket?.leave();
    this.host.ended(this, this.#streams.released);
    await cancelled;
  }

  /** A defect ends the session. */
  #run(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#logger.error(error, `session ${this.id} failed`);
      this.fail(
        new DomainError('internal_error', 'Something went wrong on our side.'),
        CLOSE.internalError,
      );
    }
  }

  send(event: ServerEvent): void {
    if (!this.#ended) this.#outbox.send(event);
  }

  open(): void {
    this.#streams.open();
  }

  reconnect(afterMs: number, report: boolean): void {
    void this.#streams.reconnect(afterMs, report);
  }

  audio(audio: JournalAudio): void {
    this.#journal?.audio(audio);
  }

  slowDown(ms: number): void {
    this.connection.slowDown(ms);
  }

  count(fact: SessionFact, ms = 0): void {
    this.services.activity.count(fact, this.#streams.model, ms);
  }

  speak(request: SpokenText): void {
    const { tenant, terms } = this.wanted.owner;
    const speech = this.services.speak(request, tenant, terms);
    const { items } = this.#core.recognition;
    this.response = new SpokenResponse(request, speech, this.#outbox, items);
    void this.response.ended.then(() => (this.response = undefined));
    void speech.request.settled.then(({ settlement }) => {
      if (settlement.status !== 'completed' || settlement.reply.kind !== 'speech') return;
      this.wanted.ticket?.charge({ audioSeconds: settlement.reply.durationS });
    });
  }

  recognised(audioSeconds: number): void {
    const { tenant, terms } = this.owner;
    const { model } = this.#streams;
    this.wanted.ticket?.charge({ audioSeconds });
    if (!this.services.recognisers.streams(model)) return; // Counted as requests.
    this.services.activity.recognised({ model, audioSeconds, tenant, keyId: terms?.key });
  }

  #received(message: string | Buffer): void {
    if (this.#ended) return;
    const nowMs = performance.now();
    this.#run(() => {
      if (typeof message === 'string') this.#core.text(message, nowMs);
      else this.#core.binary(message, nowMs);
    });
    void this.#streams.pump();
  }

  #expire(reason: string): void {
    void this.leave(CLOSE.normal, `session_expired: ${reason}`);
  }
}
