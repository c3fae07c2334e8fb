import { type Redis } from 'ioredis';
import { type QueueKeys } from '../keys.js';
import { type RedisClock } from '../redis-clock.js';

/** How a gateway reaches the shared queue. */
export interface QueueLink {
  readonly keys: QueueKeys;
  readonly clock: RedisClock;
  /** Milliseconds that a finished job stays when its gateway has the answer. */
  readonly answeredMs: number;
  /** For commands that fail at once while Redis is away. */
  readonly redis: Redis;
  readonly access: {
    /** `redis.result_ttl_ms` */
    readonly resultTtlMs: number;
    /** `redis.lock_ms` */
    readonly lockMs: number;
    /** `queue.aging_ms` */
    readonly agingMs: number;
    /** `queue.aging_share` */
    readonly agingShare: number;
  };
  /** One more connection, for what blocks or listens. */
  listener(): Redis;
  /** What a failed command means to a request. */
  failure(error: unknown): Error;
}
