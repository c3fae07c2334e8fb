import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { SETTINGS, type Settings } from '../config/settings.js';

export interface RedisPair {
  readonly publisher: Redis;
  readonly subscriber: Redis;
}

/** A caller waits for it. */
const COMMAND_MS = 500;

/** What cannot be published now is dropped: while Redis is away nothing may pile up here, and nothing may fail because of it. */
class FleetingPublisher extends Redis {
  override publish(channel: string | Buffer, message: string | Buffer): Promise<number> {
    return super.publish(channel, message).catch(() => 0);
  }
}

/** Connections to the Redis of `redis.url`. They come back by themselves; losing Redis never stops this process. */
@Injectable()
export class RedisLink implements OnApplicationShutdown {
  readonly #logger = new Logger(RedisLink.name);
  readonly #clients: Redis[] = [];

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  /** Before every key and channel. */
  get prefix(): string {
    return this.settings.redis.prefix;
  }

  /** Undefined when there is no Redis. */
  pubSub(): RedisPair | undefined {
    const { url } = this.settings.redis;
    if (url === '') return undefined;
    const publisher = new FleetingPublisher(url, { enableOfflineQueue: false });
    const subscriber = new Redis(url, { maxRetriesPerRequest: null });
    for (const client of [publisher, subscriber]) this.#watch(client);
    return { publisher, subscriber };
  }

  /**
   * For commands that must not wait: while Redis is away they fail at once, and nothing piles up here. Undefined when there is
   * no Redis.
   * @param timeoutMs limit of one command
   */
  commands(timeoutMs = COMMAND_MS): Redis | undefined {
    const { url } = this.settings.redis;
    if (url === '') return undefined;
    const client = new Redis(url, { enableOfflineQueue: false, commandTimeout: timeoutMs, maxRetriesPerRequest: 0 });
    this.#watch(client);
    return client;
  }

  /** For what blocks or listens: it waits for Redis as long as that takes. Undefined when there is no Redis. */
  listener(): Redis | undefined {
    const { url } = this.settings.redis;
    if (url === '') return undefined;
    const client = new Redis(url, { maxRetriesPerRequest: null });
    this.#watch(client);
    return client;
  }

  onApplicationShutdown(): void {
    for (const client of this.#clients.splice(0)) client.disconnect();
  }

  /** One line when it goes and one when it is back; ioredis reports every attempt. */
  #watch(client: Redis): void {
    this.#clients.push(client);
    let away = false;
    client.on('error', (error: Error) => {
      if (!away) this.#logger.warn({ reason: error.message }, 'Redis is not reachable; trying again');
      away = true;
    });
    client.on('ready', () => {
      if (away) this.#logger.log('Redis is back');
      away = false;
    });
  }
}
