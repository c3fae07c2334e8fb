import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the system gives to connections and to servers that ask for any.
 */
const [FIRST, LAST] = [12_000, 32_000];

let next = FIRST + Math.floor(Math.random() * (LAST - FIRST));

/**
 * A port of loopback that was free a moment ago, that this process gives to nobody else,
 * and that nothing takes unless it asks for it by number.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port < LAST ? port + 1 : FIRST;
    const server = createServer();
    const opened = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    if (!(await opened)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
