import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type QueueLink } from '@switchyard/shared-queue/client/queue-link.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { RedisClock } from '@switchyard/shared-queue/redis-clock.js';
import { type Redis } from 'ioredis';
import { Subject } from 'rxjs';
import { type DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../../platform/config/settings.js';
import { sharedQueueAccess, type SharedQueueAccess } from '../../platform/config/worker-spec.js';
import { DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import { isFull, isTimeout, redisUnavailable } from '../../platform/redis/redis-problems.js';
import { RedisLink } from '../../platform/redis/redis.module.js';

/**
 * A Redis that does not answer for this long is away; longer than any script of ours on
 * a slow machine.
 */
const COMMAND_MS = 5000;
/** Who only looks waits no longer than this, and sees what is known without Redis. */
const LOOK_MS = 500;

/**
 * Redis as the shared queue sees it: there, away, hung or full; and one connection for
 * commands that fail at once instead of waiting.
 */
@Injectable()
export class SharedQueueLink implements QueueLink, OnApplicationShutdown {
  /** `queue.driver` is redis. */
  readonly enabled: boolean;
  readonly keys: QueueKeys;
  readonly clock = new RedisClock();
  /**
   * Milliseconds that a finished job stays when its gateway has the answer: for others that
   * wait for the same id, and for the one that takes the request over when that gateway dies
   * before the answer is stored. A take-over comes a lease after the last sign of life, and
   * another one later when the database was silent.
   */
  readonly answeredMs: number;
  readonly #access: SharedQueueAccess | undefined;
  readonly #redis: Redis | undefined;
  readonly #back = new Subject<void>();

  /** Redis can be used again after it was away. Events of that time are missing. */
  readonly back$ = this.#back.asObservable();

  constructor(
    private readonly link: RedisLink,
    private readonly monitor: DependencyMonitor,
    settings: Settings,
  ) {
    this.#access = sharedQueueAccess(settings);
    this.enabled = this.#access !== undefined;
    this.keys = new QueueKeys(settings.redis.prefix);
    this.answeredMs = Math.min(3 * settings.requests.leaseMs, settings.redis.resultTtlMs);
    if (!this.enabled) return;
    this.#redis = link.commands(COMMAND_MS);
    // First of all that is sent: whatever reads a reply knows the time.
    this.#redis?.on('ready', () => void this.clock.read(this.redis));
    this.#redis?.on('ready', () => this.#back.next());
    monitor.changes$.subscribe(name => {
      if (name === 'redis' && this.usable) this.#back.next();
    });
  }

  onApplicationShutdown(): void {
    this.#back.complete();
  }

  /** Redis answers and has room. */
  get usable(): boolean {
    return this.#redis?.status === 'ready' && !this.monitor.isDown('redis');
  }

  /** @throws Error when the queue is embedded. */
  get access(): SharedQueueAccess {
    return needed(this.#access);
  }

  /** @throws Error when the queue is embedded. */
  get redis(): Redis {
    return needed(this.#redis);
  }

  /** One more connection, for what blocks or listens. */
  listener(): Redis {
    return needed(this.link.listener());
  }

  /** @throws DomainError `queue_unavailable` while Redis is away, hung or full. */
  demand(): void {
    if (!this.usable) throw redisUnavailable(this.monitor.state('redis')?.error);
  }

  /**
   * What a failed command means for a request. That Redis is full or hangs is remembered
   * until a probe finds otherwise.
   */
  failure(error: unknown): DomainError {
    if (isFull(error) || isTimeout(error)) this.monitor.failed('redis', error as Error);
    return redisUnavailable(error);
  }

  /** @throws DomainError as `failure` says, when Redis does not answer */
  async answered<T>(reply: Promise<T>): Promise<T> {
    try {
      return await reply;
    } catch (error) {
      throw this.failure(error);
    }
  }

  /**
   * For who only looks: `otherwise` when Redis is not there, fails, or
   * hangs. Never rejects.
   */
  async look<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
    if (!this.usable) return otherwise;
    return Promise.race([read().catch(() => otherwise), sleep(LOOK_MS, otherwise, { ref: false })]);
  }
}

function needed<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('queue.driver is not redis');
  return part;
}
