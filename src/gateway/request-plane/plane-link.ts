import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type Redis } from 'ioredis';
import { type Observable, Subject } from 'rxjs';
import { PlaneKeys } from '../../contracts/plane/plane-keys.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { planeAccess, type PlaneAccess } from '../../platform/redis/plane-access.js';
import { RedisLink } from '../../platform/redis/redis-link.js';

/** A Redis that does not answer for this long is away; longer than any script of ours on a slow machine. */
const COMMAND_MS = 5000;
const PROBE_MS = 1000;
/** Its probe of the next second may find it back. */
const RETRY_MS = 2000;

/** Redis as the plane sees it: there, away or full; and one connection for commands that fail at once instead of waiting. */
@Injectable()
export class PlaneLink implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly access: PlaneAccess | undefined;
  readonly keys: PlaneKeys;
  readonly #redis: Redis | undefined;
  readonly #back = new Subject<void>();
  #full = false;
  #probe: NodeJS.Timeout | undefined;

  /** Redis can be used again after it was away. What happened meanwhile was not heard. */
  readonly back$: Observable<void> = this.#back.asObservable();

  constructor(
    private readonly link: RedisLink,
    @Inject(SETTINGS) settings: Settings,
  ) {
    this.access = planeAccess(settings);
    this.keys = new PlaneKeys(settings.redis.prefix);
    if (!this.access) return;
    this.#redis = link.commands(COMMAND_MS);
    this.#redis?.on('ready', () => this.#back.next());
  }

  onApplicationBootstrap(): void {
    if (this.#redis) this.#probe = setInterval(() => void this.#look(), PROBE_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#probe);
    this.#back.complete();
  }

  /** `queue.driver` is redis. */
  get enabled(): boolean {
    return this.access !== undefined;
  }

  /** Redis answers and has room. */
  get usable(): boolean {
    return this.#redis?.status === 'ready' && !this.#full;
  }

  /** @throws Error when the queue is embedded. */
  get redis(): Redis {
    if (!this.#redis) throw new Error('queue.driver is not redis');
    return this.#redis;
  }

  /** One more connection, for what blocks or listens. */
  listener(): Redis {
    const client = this.link.listener();
    if (!client) throw new Error('queue.driver is not redis');
    return client;
  }

  /** @throws DomainError `queue_unavailable` while Redis is away or full. */
  demand(): void {
    if (!this.usable) throw unavailable(this.#full ? 'is full' : 'cannot be reached');
  }

  /** What a failed command means for a request: Redis being full is remembered until a probe finds room. */
  failure(error: unknown): DomainError {
    if (error instanceof DomainError) return error;
    this.#full ||= isFull(error);
    return unavailable(this.#full ? 'is full' : 'cannot be reached', error);
  }

  /** A write, because a full Redis still answers reads. */
  async #look(): Promise<void> {
    if (this.#redis?.status !== 'ready') return;
    try {
      await this.#redis.set(`${this.keys.prefix}:plane:probe`, '1', 'PX', PROBE_MS);
      const wasFull = this.#full;
      this.#full = false;
      if (wasFull) this.#back.next();
    } catch (error) {
      this.#full = isFull(error);
    }
  }
}

/** The command was refused for want of memory (`maxmemory`), not lost. */
export const isFull = (error: unknown): boolean => error instanceof Error && error.message.includes('OOM');

function unavailable(state: string, cause?: unknown): DomainError {
  const message = `The queue in Redis ${state}; nothing was queued.`;
  return new DomainError('queue_unavailable', message, { retryAfterMs: RETRY_MS, cause });
}
