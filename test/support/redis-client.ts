import { Redis, type RedisOptions } from 'ioredis';
import { leftover } from './leftovers.js';

/**
 * A client of a Redis that a test started. It ends at once, also when that Redis ended before
 * it: ioredis waits 2 s for the end of such a connection, and its timer keeps jest from ending.
 */
export function redisClient(url: string, options: RedisOptions = {}): Redis {
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    disconnectTimeout: 100,
    ...options,
  });
  client.on('error', () => undefined);
  leftover(() => client.disconnect());
  return client;
}
