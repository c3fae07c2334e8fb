import { type Server } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import { type Duplex } from 'node:stream';

/**
 * The address to listen on for a configured host. Fastify makes `localhost` two
 * servers, for 127.0.0.1 and ::1, of which the second has none of the listeners that
 * are added to the first: half-open connections, upgrades and the end of the process
 * would not reach it.
 */
export const listenHost = (host: string): string =>
  host.toLowerCase() === 'localhost' ? '127.0.0.1' : host.replace(/^\[(.*)\]$/, '$1');

/** Where a server listens: an address for all of a kind stays that. */
export function listeningUrl(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The URL by which this machine calls a server that listens there, on all addresses or one. */
export function callableUrl(host: string, port: number): string {
  const address = listenHost(host);
  const name = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Time for the peer to read the last bytes and to close its own side. */
const LINGER_MS = 1000;

/**
 * Writes the last bytes of a connection and closes it: when the peer has closed its side,
 * after 1 s at the latest. `end()` alone leaves the socket to a peer that may never
 * close. Destroying it at once resets a peer that still sends, and the reset can overtake
 * the answer. What still arrives is discarded.
 */
export function endConnection(socket: Duplex, lastBytes: string): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(lastBytes);
}

/**
 * Every TCP connection of an HTTP server, also those that were upgraded or
 * answered by hand: Node's `closeAllConnections()` knows neither, and
 * `server.close()` waits for both.
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

const UNCONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  // This machine has nothing left to connect with.
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'EADDRNOTAVAIL',
]);

/** True for an error before any byte was sent: the other end has done nothing yet. */
export const isUnconnected = ({ code = '', syscall }: NodeJS.ErrnoException): boolean =>
  UNCONNECTED.has(code) || (code === 'ETIMEDOUT' && syscall === 'connect');
