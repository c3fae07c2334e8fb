import { type Settings } from './settings.js';

/**
 * How gateways and pull workers reach the shared queue (D-19): the same for all of them.
 */
export interface SharedQueueAccess {
  readonly url: string;
  /** Before every key. */
  readonly prefix: string;
  /** Milliseconds a job is a silent worker's. */
  readonly lockMs: number;
  /** Workers that may die with a job, less one. */
  readonly maxStalled: number;
  readonly resultTtlMs: number;
  /** D-03. */
  readonly agingMs: number;
  readonly agingShare: number;
  /** Where audio lies: the folder, or the bucket, must be the same for all. */
  readonly blobs: Settings['blobs'];
  readonly data: Settings['data'];
}

/**
 * Undefined: the queue is embedded. @throws Error when Redis is asked for and
 * none is named.
 */
export function sharedQueueAccess({
  queue,
  redis,
  blobs,
  data,
}: Settings): SharedQueueAccess | undefined {
  if (queue.driver === 'embedded') return undefined;
  if (redis.url === '')
    throw new Error('queue.driver is redis: redis.url must name one.');
  return {
    url: redis.url,
    prefix: redis.prefix,
    lockMs: redis.lockMs,
    maxStalled: redis.maxStalled,
    resultTtlMs: redis.resultTtlMs,
    agingMs: queue.agingMs,
    agingShare: queue.agingShare,
    blobs,
    data,
  };
}
