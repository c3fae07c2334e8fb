import { type Duplex } from 'node:stream';

/** Time for the peer to read the last bytes and to close its own side. */
const LINGER_MS = 1000;

/**
 * Writes the last bytes of a connection and closes it: when the peer has closed its side, after 1 s at the latest. `end()` alone
 * leaves the socket to a peer that may never close. Destroying it at once resets a peer that still sends, and the reset can
 * overtake the answer. What still arrives is discarded.
 */
export function endConnection(socket: Duplex, lastBytes: string): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(lastBytes);
}
