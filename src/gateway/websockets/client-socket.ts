import { type WebSocket } from 'ws';
import { type CloseCode } from '../../contracts/realtime/realtime-event.js';

interface SocketListener {
  text(message: string): void;
  binary(data: Buffer): void;
  /**
   * @param closed the peer sent a close frame: it will not come back. False: the
   *   connection was lost.
   */
  gone(closed: boolean): void;
}

/** A peer that does not answer a close frame is cut after this. */
const CLOSE_MS = 2000;

/**
 * What a connection that ended without a close frame is given (RFC 6455 §7.1.5); browsers
 * close with 1001 or 1005.
 */
const NO_CLOSE_FRAME = 1006;

/** Of events, for a client that does not read or is away: minutes of them. */
export const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

/** One WebSocket: bounded writing, pings for life, and a close that ends. */
export class ClientSocket {
  readonly #pings: NodeJS.Timeout;
  #cut: NodeJS.Timeout | undefined;
  #paused: NodeJS.Timeout | undefined;
  #alive = true;
  #listener: SocketListener | undefined;
  #waiters: (() => void)[] = [];

  constructor(
    private readonly socket: WebSocket,
    { pingIntervalMs }: { readonly pingIntervalMs: number },
    private readonly maxBufferedBytes = MAX_BUFFERED_BYTES,
  ) {
    this.#pings = setInterval(() => this.#ping(), pingIntervalMs);
    socket.on('pong', () => (this.#alive = true));
    // Messages are Buffers: `binaryType` is that of `ws`.
    socket.on('message', (data, isBinary) => this.#message(data as Buffer, isBinary));
    // 1007 and 1009 are answered by the library; whatever it is, `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', code => this.#closed(code));
  }

  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /** True when more than the bound waits for the peer to read. */
  get overfull(): boolean {
    return this.socket.bufferedAmount > this.maxBufferedBytes;
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
  }

  send(json: string | Buffer): void {
    if (this.open) this.socket.send(json, { binary: false }, () => this.#wake());
  }

  /** Resolves when a quarter of the bound or less waits for the peer, or it is gone. */
  async drained(): Promise<void> {
    while (this.open && this.socket.bufferedAmount > this.maxBufferedBytes / 4)
      await new Promise<void>(resolve => this.#waiters.push(resolve));
  }

  /** Stops reading: the peer's own writes then stall. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Milliseconds; from now on, whatever was said before. */
  pauseFor(ms: number): void {
    this.pause();
    clearTimeout(this.#paused);
    this.#paused = setTimeout(() => this.resume(), ms);
  }

  /** @param reason at most 123 bytes of UTF-8 */
  close(code: CloseCode, reason: string, limitMs = CLOSE_MS): void {
    // A paused socket would never see the peer's answer.
    this.socket.resume();
    this.socket.close(code, Buffer.from(reason).subarray(0, 123).toString());
    this.#cut ??= setTimeout(() => this.socket.terminate(), limitMs);
  }

  #ping(): void {
    if (!this.#alive) return this.socket.terminate();
    this.#alive = this.socket.isPaused;
    if (this.open) this.socket.ping();
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.#listener?.binary(data);
    else this.#listener?.text(data.toString());
  }

  #closed(code: number): void {
    clearInterval(this.#pings);
    clearTimeout(this.#cut);
    clearTimeout(this.#paused);
    this.#wake();
    this.#listener?.gone(code !== NO_CLOSE_FRAME);
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
