import { type Settings } from './settings.js';

/**
 * How gateways and pull workers reach the shared queue (D-19), the same for all of them:
 * Redis, the order of jobs (D-03), and where audio lies.
 */
export type SharedQueueAccess = Settings['redis'] &
  Pick<Settings['queue'], 'agingMs' | 'agingShare'> &
  Pick<Settings, 'blobs' | 'data'>;

/**
 * Undefined: the queue is embedded. @throws Error when Redis is asked for and
 * none is named.
 */
export function sharedQueueAccess({
  queue: { driver, agingMs, agingShare },
  redis,
  blobs,
  data,
}: Settings): SharedQueueAccess | undefined {
  if (driver === 'embedded') return undefined;
  if (redis.url === '')
    throw new Error('queue.driver is redis: redis.url must name one.');
  return { ...redis, agingMs, agingShare, blobs, data };
}
