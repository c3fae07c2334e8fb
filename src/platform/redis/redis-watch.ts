import { type Redis } from 'ioredis';
import { watchLink } from '../clock/link-watch.js';

/** Longer than any wait of ours at Redis, which are 5 s. */
const SILENT_S = 7;

/** A connection that says nothing is made anew. */
export function watchRedis(client: Redis): void {
  const stop = watchLink({
    socket: () => (['connect', 'ready'].includes(client.status) ? client.stream : undefined),
    ask: () => (client.status === 'ready' ? client.ping() : undefined),
    silentS: SILENT_S,
  });
  client.on('end', stop);
}
