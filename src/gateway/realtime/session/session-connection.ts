import { CLOSE, type CloseCode } from '../../../contracts/realtime/realtime-event.js';
import { type Settings } from '../../../platform/config/settings.js';
import { type ClientSocket } from '../../websockets/client-socket.js';
import { type SentEvent } from '../journal/session-state.js';
import { type SessionOutbox } from './session-outbox.js';

/** What its session does about its client. */
interface ConnectedSession {
  received(message: string | Buffer): void;
  /** It was connected and sent nothing for `realtime.idle_timeout_ms`. */
  silent(reason: string): void;
  /** It will not come back, or did not in time. */
  left(reason: string): void;
}

/**
 * The client of a session: its connection, or the time that it is away. Another connection
 * replaces the one before, whose messages are ignored from then on: its client sends them
 * again.
 */
export class SessionConnection {
  #socket: ClientSocket | undefined;
  /** Without a message while a client is connected, else without a connection. */
  #waiting: NodeJS.Timeout | undefined;
  /** When its client sent the last message or connected. */
  #heardAtMs = performance.now();
  /**
   * When it was lost, by the monotonic clock; undefined while a client is
   * connected.
   */
  detachedAtMs: number | undefined;

  constructor(
    private readonly outbox: SessionOutbox,
    private readonly limits: Settings['realtime'],
    private readonly session: ConnectedSession,
  ) {}

  /** True when its client sent nothing for `realtime.quiet_ms`, or is away. */
  get isQuiet(): boolean {
    return (
      performance.now() - this.#heardAtMs >= this.limits.quietMs || this.detachedAtMs !== undefined
    );
  }

  attach(socket: ClientSocket): void {
    this.#socket = socket;
    this.#heardAtMs = performance.now();
    this.detachedAtMs = undefined;
    const { idleTimeoutMs } = this.limits;
    const idle = `no message from the client for ${idleTimeoutMs / 1000} s`;
    this.#wait(idleTimeoutMs, () => this.session.silent(idle));
    this.outbox.attach(socket);
    socket.listen({
      text: message => this.#received(socket, message),
      binary: data => this.#received(socket, data),
      gone: closed => this.#gone(socket, closed),
    });
  }

  /** @param missed sent before anything else */
  replace(socket: ClientSocket, missed: readonly SentEvent[]): void {
    const old = this.#socket;
    this.#socket = undefined;
    old?.close(CLOSE.policyViolation, 'resumed by another connection');
    for (const { json } of missed) socket.send(json);
    this.attach(socket);
  }

  /** Its client is away, and has `realtime.resume_window_ms` to come back. */
  detached(): void {
    this.detachedAtMs = performance.now();
    this.#wait(this.limits.resumeWindowMs, () => this.session.left('not resumed'));
  }

  slowDown(ms: number): void {
    this.#socket?.pauseFor(ms);
  }

  /** For good. @param closeMs a client that does not answer the close frame is cut after it */
  close(code: CloseCode, reason: string, closeMs?: number): void {
    clearTimeout(this.#waiting);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close(code, reason, closeMs);
  }

  #received(socket: ClientSocket, message: string | Buffer): void {
    if (socket !== this.#socket) return;
    this.#waiting?.refresh();
    this.#heardAtMs = performance.now();
    this.session.received(message);
  }

  #gone(socket: ClientSocket, closed: boolean): void {
    this.outbox.detach(socket);
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    if (closed || this.limits.resumeWindowMs === 0) this.session.left('closed by the client');
    else this.detached();
  }

  #wait(ms: number, onEnd: () => void): void {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(onEnd, ms);
  }
}
