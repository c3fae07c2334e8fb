import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A connection to a port of this machine that can fail as a cable does: neither end is told.
 */
export class HalfOpenLink implements AsyncDisposable {
  #isCut = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(private readonly target: number) {
    this.#server = createServer(near => this.#join(near));
  }

  /** @param port 0: any */
  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /**
   * What is sent from now on is lost, on the connections that are there and on new ones,
   * which are taken all the same.
   */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) discard(socket);
  }

  /**
   * New connections work again. The other end knows nothing of those of before: it resets one
   * when something is sent on it again, and the rest when a keep-alive would have asked.
   */
  heal(): void {
    this.#isCut = false;
    const silent = [...this.#sockets].filter(socket => SILENT.has(socket));
    for (const socket of silent) {
      if (HAS_SENT.has(socket)) socket.resetAndDestroy();
      else socket.on('data', () => socket.resetAndDestroy());
    }
    const asked = setTimeout(() => silent.forEach(socket => socket.destroy()), KEEP_ALIVE_MS);
    asked.unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise(closed => this.#server.close(closed));
  }

  #join(near: Socket): void {
    const far = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('close', () => this.#sockets.delete(from) && !isSilent(from) && to.destroy());
      from.on('error', () => undefined);
      from.pipe(to);
    }
    if (this.#isCut) for (const socket of [near, far]) discard(socket);
  }
}

/** After it healed: until then somebody may wait for what was lost. */
export const KEEP_ALIVE_MS = 30_000;
const SILENT = new WeakSet<Socket>();
/** It waits for an acknowledgement: the system sends it again. */
const HAS_SENT = new WeakSet<Socket>();
const isSilent = (socket: Socket): boolean => SILENT.has(socket);

/** Read, so that its end is noticed here, and thrown away. */
function discard(socket: Socket): void {
  SILENT.add(socket);
  socket.unpipe();
  socket.on('data', () => HAS_SENT.add(socket));
  socket.resume();
}
