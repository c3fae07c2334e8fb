import { timingSafeEqual } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { type ClientEvent, openEnvelope, readClientEvent } from '../../contracts/realtime/client-event.js';
import { CLOSE, type CloseCode } from '../../contracts/realtime/close-code.js';
import { errorEvent, type ServerEvent, warningEvent } from '../../contracts/realtime/server-event.js';
import { type SessionConfig } from '../../contracts/realtime/session-config.js';
import { type Dialect, sessionView } from '../../contracts/realtime/session-view.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type Principal } from '../../platform/auth/principal.js';
import { type Settings } from '../../platform/config/settings.js';
import { type ModelCatalog } from '../api/model-catalog.js';
import { type RealtimeSocket } from './realtime-socket.js';
import { containerOf } from './session/container-sniff.js';
import { MistakeLimit } from './session/mistake-limit.js';
import { type Outbox } from './session/outbox.js';
import { type SessionInput } from './session/session-input.js';
import { type SessionOutput } from './session/session-output.js';
import { SessionTimers } from './session/session-timers.js';
import { demandSameFormat, needsNewStream, updatedSession } from './session/session-settings.js';

export interface RealtimeSessionOptions {
  readonly id: string;
  /** Whose key opened it. */
  readonly owner: Principal;
  /** Whoever knows it may resume the session. */
  readonly secret: string;
  readonly limits: Settings['realtime'];
  readonly config: SessionConfig;
  readonly catalog: ModelCatalog;
  readonly outbox: Outbox;
  /** Made for the session, whose settings it asks for. */
  input(session: RealtimeSession): SessionInput;
  output(session: RealtimeSession): SessionOutput;
  /** @param released resolves when its streaming slot is free */
  onEnd(released: Promise<void>): void;
  nowMs(): number;
}

/** Milliseconds. */
export interface LeaveLimits {
  /** For the last words. */
  readonly flushMs: number;
  /** For the client's answer to the close frame. */
  readonly closeMs?: number;
}

/** One live session through all its connections: client events in, server events out, until one of its ends. */
export class RealtimeSession {
  readonly #logger = new Logger(RealtimeSession.name);
  readonly #input: SessionInput;
  readonly #output: SessionOutput;
  readonly #timers: SessionTimers;
  readonly #mistakes = new MistakeLimit();
  readonly #expiresAt: number;
  #config: SessionConfig;
  #owner: Principal;
  #socket: RealtimeSocket | undefined;
  #reading: NodeJS.Timeout | undefined;
  #ended = false;
  #detachedAtMs: number | undefined;

  constructor(private readonly options: RealtimeSessionOptions) {
    const { limits } = options;
    this.#config = options.config;
    this.#owner = options.owner;
    this.#expiresAt = Math.floor((Date.now() + limits.maxSessionMs) / 1000);
    this.#input = options.input(this);
    this.#output = options.output(this);
    this.#timers = new SessionTimers(limits, {
      onIdle: () => this.#expire(`no message from the client for ${limits.idleTimeoutMs / 1000} s`),
      onOld: () => this.#expire(`the session is ${limits.maxSessionMs / 1000} s old`),
      onAbandoned: () => void this.end(CLOSE.normal, 'not resumed'),
    });
  }

  get id(): string {
    return this.options.id;
  }

  /** Whoever is connected, or was last. */
  get owner(): Principal {
    return this.#owner;
  }

  get config(): SessionConfig {
    return this.#config;
  }

  /** True while it holds a streaming slot. */
  get live(): boolean {
    return this.#input.live;
  }

  /** When its connection was lost, by the monotonic clock; undefined while a client is connected. */
  get detachedAtMs(): number | undefined {
    return this.#detachedAtMs;
  }

  knows(secret: string): boolean {
    const [given, own] = [Buffer.from(secret), Buffer.from(this.options.secret)];
    return given.length === own.length && timingSafeEqual(given, own);
  }

  get input(): SessionInput {
    return this.#input;
  }

  /** Begun by another gateway: recognition goes on, and a client is waited for. */
  goOn(): void {
    this.#input.goOn();
    this.#detached();
  }

  /** The first connection. */
  begin(socket: RealtimeSocket, createdType: string): void {
    this.#attach(socket);
    this.#send({ type: createdType, session: this.#view() });
  }

  /**
   * A connection that goes on where another one dropped: first what it missed, then how much audio has arrived.
   * @param lastEventId empty: it does not ask for what it missed
   * @throws DomainError `session_not_found` when events it missed are gone; the session waits on for another attempt.
   */
  resume(socket: RealtimeSocket, { lastEventId, owner }: { lastEventId: string; owner: Principal }): void {
    const missed = lastEventId === '' ? [] : this.options.outbox.missedSince(lastEventId);
    if (!missed) throw eventsGone();
    this.#owner = owner;
    const old = this.#socket;
    this.#socket = undefined;
    old?.close(CLOSE.policyViolation, 'resumed by another connection');
    for (const json of missed) socket.send(json);
    this.#attach(socket);
    this.#send({ type: 'session.resumed', session: this.#view(), audio_received_ms: this.#input.receivedMs });
  }

  /** Speech was heard while a response is spoken. */
  interrupt(): void {
    this.#output.interrupt();
  }

  /** Stops reading the client for so long; its own writes stall. */
  slowDown(pauseMs: number): void {
    const socket = this.#socket;
    clearTimeout(this.#reading);
    socket?.pause();
    this.#reading = setTimeout(() => socket?.resume(), pauseMs);
  }

  /** Tells the client why, and ends. */
  fail(error: DomainError, code: CloseCode): void {
    this.#send(errorEvent(error));
    void this.end(code, error.code);
  }

  /** Tells the client, finishes what was said so far, then ends. Never rejects. */
  async leave(code: CloseCode, reason: string, { flushMs, closeMs }: LeaveLimits): Promise<void> {
    this.#send(warningEvent('session_ending', reason));
    this.#output.stop();
    await this.#input.flush(flushMs);
    await this.options.outbox.settled();
    await this.end(code, reason, closeMs);
  }

  /**
   * At once. Idempotent.
   * @param closeMs a client that does not answer the close frame is cut after it
   */
  async end(code: CloseCode, reason: string, closeMs?: number): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#timers.stop();
    clearTimeout(this.#reading);
    this.#output.stop();
    this.options.outbox.end(code === CLOSE.goingAway);
    this.#socket?.close(code, reason, closeMs);
    const released = this.#input.cancel();
    this.options.onEnd(released);
    await released;
  }

  #attach(socket: RealtimeSocket): void {
    this.#socket = socket;
    this.#detachedAtMs = undefined;
    this.#timers.attached();
    this.options.outbox.attach(socket);
    socket.listen({
      text: message => this.#guarded(socket, () => this.#text(message)),
      binary: data => this.#guarded(socket, () => this.#binary(data)),
      gone: closed => this.#gone(socket, closed),
    });
  }

  #gone(socket: RealtimeSocket, closed: boolean): void {
    this.options.outbox.detach(socket);
    if (socket !== this.#socket || this.#ended) return;
    this.#socket = undefined;
    if (closed || this.options.limits.resumeWindowMs === 0) void this.end(CLOSE.normal, 'closed by the client');
    else this.#detached();
  }

  #detached(): void {
    this.#detachedAtMs = this.options.nowMs();
    this.#timers.detached();
  }

  /** What a connection says after it was taken over is not heard: its successor says it again. */
  #guarded(socket: RealtimeSocket, act: () => void): void {
    if (this.#ended || socket !== this.#socket) return;
    this.#timers.active();
    try {
      act();
    } catch (error) {
      this.#logger.error(error, `session ${this.id} failed`);
      this.fail(new DomainError('internal_error', 'Something went wrong on our side.'), CLOSE.internalError);
    }
  }

  #text(message: string): void {
    let eventId: string | undefined;
    try {
      const envelope = openEnvelope(message);
      eventId = envelope.eventId;
      this.#act(readClientEvent(envelope));
    } catch (error) {
      this.#mistake(error, eventId);
    }
  }

  #binary(data: Buffer): void {
    const container = this.#input.begun ? undefined : containerOf(data);
    if (container !== undefined) {
      const message = `Binary frames are raw audio in the session's format; this is ${container}.`;
      return this.fail(new DomainError('invalid_audio', message), CLOSE.unsupportedData);
    }
    try {
      this.#append(data);
    } catch (error) {
      this.#mistake(error, undefined);
    }
  }

  #mistake(error: unknown, eventId: string | undefined): void {
    if (!(error instanceof DomainError)) throw error;
    this.#send(errorEvent(error, eventId));
    if (this.#mistakes.exceeded(this.options.nowMs())) void this.end(CLOSE.policyViolation, 'too many bad events');
  }

  #act(event: ClientEvent): void {
    switch (event.type) {
      case 'session.update':
        return this.#update(event.session, this.options.outbox.spoken, 'session.updated');
      case 'transcription_session.update':
        this.options.outbox.speak('older');
        return this.#update(event.session, 'older', 'transcription_session.updated');
      case 'input_audio_buffer.append':
        return this.#append(event.audio);
      case 'input_audio_buffer.commit':
        return this.#input.commit();
      case 'input_audio_buffer.clear':
        return this.#input.clear();
      case 'conversation.item.create':
        return this.#output.add(event.text, event.id);
      case 'response.create':
        return this.#output.respond(event.wish);
      case 'response.cancel':
        return this.#output.cancel(event.responseId);
    }
  }

  #update(value: unknown, dialect: Dialect, answer: string): void {
    const current = this.#config;
    const next = updatedSession(value, { current, dialect, catalog: this.options.catalog });
    if (this.#input.begun) demandSameFormat(next, current, dialect);
    this.#config = next;
    if (needsNewStream(current, next)) this.#input.reopen();
    this.#send({ type: answer, session: this.#view() });
  }

  /** Without a place for its first audio a session is of no use: it is told to try again later. */
  #append(audio: Buffer): void {
    try {
      this.#input.append(audio);
    } catch (error) {
      if (!(error instanceof DomainError) || error.definition.retry !== 'later') throw error;
      this.fail(error, CLOSE.tryAgainLater);
    }
  }

  #expire(reason: string): void {
    void this.leave(CLOSE.normal, `session_expired: ${reason}`, { flushMs: FLUSH_MS });
  }

  #send(event: ServerEvent): void {
    if (!this.#ended) this.options.outbox.send(event);
  }

  #view(): Record<string, unknown> {
    const { id, secret, limits, outbox } = this.options;
    const resume = { secret, window_seconds: limits.resumeWindowMs / 1000 };
    const facts = { id, resume, expiresAt: this.#expiresAt, idleTimeoutSeconds: limits.idleTimeoutMs / 1000 };
    return sessionView(this.#config, facts, outbox.spoken);
  }
}

const eventsGone = (): DomainError =>
  new DomainError(
    'session_not_found',
    'Events after `last_event_id` are no longer kept; resume without it to go on from here.',
    { param: 'last_event_id' },
  );

/** The last words of a session that ends by its own limits. */
const FLUSH_MS = 5000;
