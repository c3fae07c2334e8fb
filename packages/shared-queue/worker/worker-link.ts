import { type Redis, type RedisOptions } from 'ioredis';
import { type QueueKeys } from '../keys.js';
import { type RedisClock } from '../redis-clock.js';

/** How a worker reaches the shared queue. */
export interface WorkerLink {
  readonly keys: QueueKeys;
  readonly clock: RedisClock;
  /** Prefix of the lock tokens of this process, up to the first colon. */
  readonly owner: string;
  /** The id under which this worker announces itself. */
  readonly announcedId: string;
  readonly sharedQueue: {
    /** Options of ioredis: plain values, which can be sent to a thread. */
    readonly server: RedisOptions;
    /** `redis.lock_ms` */
    readonly lockMs: number;
    /** `redis.result_ttl_ms` */
    readonly resultTtlMs: number;
    /** `queue.aging_ms` */
    readonly agingMs: number;
    /** `queue.aging_share` */
    readonly agingShare: number;
  };
  /** With `work`, commands fail while Redis is away; with `callbacks`, they wait for it. */
  for(purpose: 'work' | 'callbacks'): Redis;
}
