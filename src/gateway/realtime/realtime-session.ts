import { timingSafeEqual } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { CLOSE, type CloseCode } from '../../contracts/realtime/close-code.js';
import {
  errorEvent,
  ignoredWarning,
  type ServerEvent,
  warningEvent,
} from '../../contracts/realtime/server-event.js';
import { type SessionConfig } from '../../contracts/realtime/session-config.js';
import { sessionView } from '../../contracts/realtime/session-view.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Principal } from '../../platform/auth/principal.js';
import { type Settings } from '../../platform/config/settings.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { type RealtimeSocket } from './session/realtime-socket.js';
import { ClientMessages, type MessageTarget } from './session/client-messages.js';
import { type SessionOutbox } from './session/session-outbox.js';
import { type SessionInput } from './session/session-input.js';
import { type SessionOutput } from './session/session-output.js';
import { SessionTimers } from './session/session-timers.js';

export interface RealtimeSessionOptions {
  readonly id: string;
  /** Whose key opened it. */
  readonly owner: Principal;
  /** Required to resume the session. */
  readonly secret: string;
  readonly limits: Settings['realtime'];
  readonly config: SessionConfig;
  readonly catalog: ModelCatalog;
  /** `compat.strict` */
  readonly strict: boolean;
  readonly outbox: SessionOutbox;
  /** Created for the session; reads its current settings. */
  input(session: RealtimeSession): SessionInput;
  output(session: RealtimeSession): SessionOutput;
  /** @param released resolves when its streaming slot is free */
  onEnd(released: Promise<void>): void;
  nowMs(): number;
}

/** Milliseconds. */
export interface LeaveLimits {
  /** For the last segment. */
  readonly flushMs: number;
  /** For the client's answer to the close frame. */
  readonly closeMs?: number;
}

/**
 * One live session through all its connections: client events in, server events out,
 * until one of its ends.
 */
export class RealtimeSession {
  readonly #logger = new Logger(RealtimeSession.name);
  readonly #input: SessionInput;
  readonly #output: SessionOutput;
  readonly #timers: SessionTimers;
  readonly #messages: ClientMessages;
  /** Unix seconds. */
  readonly startedAt = Math.floor(Date.now() / 1000);
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
    this.#messages = new ClientMessages(this.#messageTarget());
    this.#timers = new SessionTimers(limits, {
      onIdle: () =>
        this.#expire(`no message from the client for ${limits.idleTimeoutMs / 1000} s`),
      onOld: () => this.#expire(`the session is ${limits.maxSessionMs / 1000} s old`),
      onAbandoned: () => void this.end(CLOSE.normal, 'not resumed'),
    });
  }

  get id(): string {
    return this.options.id;
  }

  /** Of the current connection, or of the last one. */
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

  /**
   * When its connection was lost, by the monotonic clock; undefined while a
   * client is connected.
   */
  get detachedAtMs(): number | undefined {
    return this.#detachedAtMs;
  }

  hasSecret(secret: string): boolean {
    const [given, own] = [Buffer.from(secret), Buffer.from(this.options.secret)];
    return given.length === own.length && timingSafeEqual(given, own);
  }

  get input(): SessionInput {
    return this.#input;
  }

  /**
   * Of a session that another gateway began: recognition continues, and the session waits
   * for its client.
   */
  restore(): void {
    this.#input.restore();
    this.#detached();
  }

  /**
   * The first connection. @param ignored paths of fields that it named and that
   * have no effect
   */
  begin(socket: RealtimeSocket, createdType: string, ignored: readonly string[]): void {
    this.#attach(socket);
    this.#send({ type: createdType, session: this.#view() });
    if (ignored.length > 0) this.#send(ignoredWarning(ignored));
  }

  /**
   * Continues on a new connection: first the missed events, then how much
   * audio has arrived.
   * @param lastEventId empty: missed events are not requested
   * @throws DomainError `session_not_found` when missed events are no longer stored; the
   *   session waits for another
   *   attempt.
   */
  resume(
    socket: RealtimeSocket,
    { lastEventId, owner }: { lastEventId: string; owner: Principal },
  ): void {
    const missed = lastEventId === '' ? [] : this.options.outbox.missedSince(lastEventId);
    if (!missed) throw eventsDropped();
    this.#owner = owner;
    const old = this.#socket;
    this.#socket = undefined;
    old?.close(CLOSE.policyViolation, 'resumed by another connection');
    for (const json of missed) socket.send(json);
    this.#attach(socket);
    this.#send({
      type: 'session.resumed',
      session: this.#view(),
      audio_received_ms: this.#input.receivedMs,
    });
  }

  /** The client speaks while a response is spoken. */
  interrupt(): void {
    this.#output.interrupt();
  }

  /** Stops reading the client for that long; its writes stall. */
  slowDown(pauseMs: number): void {
    const socket = this.#socket;
    clearTimeout(this.#reading);
    socket?.pause();
    this.#reading = setTimeout(() => socket?.resume(), pauseMs);
  }

  /** Sends the error and ends. */
  fail(error: DomainError, code: CloseCode): void {
    this.#send(errorEvent(error));
    void this.end(code, error.code);
  }

  /** Sends a warning, finishes the current segment, then ends. Never rejects. */
  async leave(
    code: CloseCode,
    reason: string,
    { flushMs, closeMs }: LeaveLimits,
  ): Promise<void> {
    this.#send(warningEvent('session_ending', reason));
    this.#output.stop();
    await this.#input.flush(flushMs);
    await this.options.outbox.settled();
    await this.end(code, reason, closeMs);
  }

  /**
   * Ends at once. Idempotent.
   * @param closeMs a client that does not answer the close frame is disconnected after it
   */
  async end(code: CloseCode, reason: string, closeMs?: number): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#timers.stop();
    clearTimeout(this.#reading);
    this.#output.stop();
    this.options.outbox.end(code === CLOSE.goingAway);
    this.#socket?.close(code, reason, closeMs);
    const cancelled = this.#input.cancel();
    this.options.onEnd(this.#input.released);
    await cancelled;
  }

  #attach(socket: RealtimeSocket): void {
    this.#socket = socket;
    this.#detachedAtMs = undefined;
    this.#timers.attached();
    this.options.outbox.attach(socket);
    socket.listen({
      text: message => this.#guarded(socket, () => this.#messages.text(message)),
      binary: data => this.#guarded(socket, () => this.#messages.binary(data)),
      gone: closed => this.#gone(socket, closed),
    });
  }

  #gone(socket: RealtimeSocket, closed: boolean): void {
    this.options.outbox.detach(socket);
    if (socket !== this.#socket || this.#ended) return;
    this.#socket = undefined;
    if (closed || this.options.limits.resumeWindowMs === 0)
      void this.end(CLOSE.normal, 'closed by the client');
    else this.#detached();
  }

  #detached(): void {
    this.#detachedAtMs = this.options.nowMs();
    this.#timers.detached();
  }

  /**
   * Messages of a connection that was replaced are ignored: the new connection
   * sends them again.
   */
  #guarded(socket: RealtimeSocket, act: () => void): void {
    if (this.#ended || socket !== this.#socket) return;
    this.#timers.active();
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

  #messageTarget(): MessageTarget {
    const { catalog, strict, outbox } = this.options;
    return {
      ...{ catalog, strict, outbox, input: this.#input, output: this.#output },
      config: () => this.#config,
      nowMs: () => this.options.nowMs(),
      setConfig: next => (this.#config = next),
      fail: (error, code) => this.fail(error, code),
      end: (code, reason) => this.end(code, reason),
      view: () => this.#view(),
    };
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
    const facts = {
      id,
      resume,
      expiresAt: this.#expiresAt,
      idleTimeoutSeconds: limits.idleTimeoutMs / 1000,
    };
    return sessionView(this.#config, facts, outbox.currentDialect);
  }
}

const eventsDropped = (): DomainError =>
  new DomainError(
    'session_not_found',
    'Events after `last_event_id` are no longer stored; resume without it to continue from here.',
    { param: 'last_event_id' },
  );

/** For the last segment of a session that ends by its own limits. */
const FLUSH_MS = 5000;
