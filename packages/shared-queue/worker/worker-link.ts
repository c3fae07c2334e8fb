import { type Redis, type RedisOptions } from 'ioredis';
import { type QueueKeys } from '../keys.js';
import { type RedisClock } from '../redis-clock.js';

/** How a worker reaches the shared queue. */
export interface WorkerLink {
  readonly keys: QueueKeys;
  readonly clock: RedisClock;
  /** Before the first colon of the tokens of this process's locks. */
  readonly owner: string;
  /** As this worker announces itself. */
  readonly announcedId: string;
  readonly sharedQueue: {
    /** How ioredis connects; plain values, which a thread can be handed. */
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
  /** `work`: commands fail while Redis is away. `callbacks`: they wait for it. */
  for(purpose: 'work' | 'callbacks'): Redis;
}
