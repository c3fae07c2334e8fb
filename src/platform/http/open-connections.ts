import { type Server } from 'node:http';
import { type Socket } from 'node:net';

/**
 * Every TCP connection of an HTTP server, also those that were upgraded or answered by hand: Node's `closeAllConnections()` knows
 * neither, and `server.close()` waits for both.
 */
export class OpenConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    server.on('connection', socket => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get size(): number {
    return this.#sockets.size;
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
