import { type IncomingMessage } from 'node:http';
import { type Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type Principal } from '../../platform/auth/principal.js';

/** Who may have a connection. */
export interface AdmittedCaller {
  readonly principal: Principal;
  /** Releases what was reserved, when no connection comes of it. */
  release?(this: void): void;
}

/**
 * One path of plain WebSockets. Its gateway calls `admitBy` in `afterInit`;
 * `handleConnection` gets `(socket, request, caller)`.
 */
export class WebSocketEndpoint extends WebSocketServer {
  #admit!: (request: IncomingMessage) => Promise<AdmittedCaller>;

  /**
   * @param admit decides about one upgrade before it is answered, so that a refusal is an
   *   HTTP answer, which every client understands; throws DomainError
   */
  admitBy(admit: (request: IncomingMessage) => Promise<AdmittedCaller>): void {
    this.#admit = admit;
  }

  /**
   * Takes over the connection. @throws DomainError of the admission; the connection is
   * the caller's then.
   */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const caller = await this.#admit(request);
    const release = () => caller.release?.();
    // `ws` destroys what it cannot upgrade, such as a socket whose peer has left
    // meanwhile, without a callback.
    if (socket.destroyed) return release();
    socket.once('close', release);
    this.handleUpgrade(request, socket, head, webSocket => {
      socket.off('close', release);
      this.emit('connection', webSocket, request, caller);
    });
  }
}
