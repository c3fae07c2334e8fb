import { Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis, RedisOptions } from 'ioredis';
import { namesRedis, redisServer } from '../config/redis-server.js';
import { Settings } from '../config/settings.js';
import { StartError } from '../config/start-error.js';
import { WaitBudget } from '../process/wait-budget.js';
import { judgedInfo, NO_SUCH_MASTER, unknownMaster } from './redis-info.js';
import { redisProblem } from './redis-problems.js';
import { watchRedis } from './redis-watch.js';

/**
 * How long a connection may take to close. Of one that Redis closed before, ioredis
 * waits all of it, and keeps the process.
 */
const DISCONNECT_MS = 100;
/** How long one attempt to connect may take. */
const CONNECT_MS = 5000;
/** A caller waits for it. */
const COMMAND_MS = 500;

/**
 * Connections to the Redis of `redis.url` or of `redis.sentinels`. They come back by themselves; losing Redis
 * never stops this process.
 */
export class RedisLink implements OnApplicationShutdown {
  readonly #logger = new Logger(RedisLink.name);
  readonly #clients: Redis[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly client: typeof Redis | undefined,
  ) {}

  /** Before every key and channel. */
  get prefix(): string {
    return this.settings.redis.prefix;
  }

  /** Undefined when there is no Redis. */
  pubSub(): { readonly publisher: Redis; readonly subscriber: Redis } | undefined {
    // What cannot be published now is dropped: while Redis is away nothing may
    // pile up here.
    const publisher = this.#connect({ enableOfflineQueue: false });
    const subscriber = this.listener();
    return publisher && subscriber && { publisher, subscriber };
  }

  /**
   * For commands that must not wait: while Redis is away they fail at once, and nothing
   * piles up here. Undefined when there is no Redis. Commands reject with
   * `queue_unavailable`, or with Redis's own complaint about a wrong one; those of a pipeline
   * need `redisProblem`.
   * @param timeoutMs limit of one command
   */
  commands(timeoutMs = COMMAND_MS): Redis | undefined {
    const client = this.#connect({ enableOfflineQueue: false, maxRetriesPerRequest: 0 });
    if (client) limitCommands(client, timeoutMs);
    return client;
  }

  /**
   * For what blocks or listens: it waits for Redis as long as that takes. Undefined when
   * there is no Redis.
   */
  listener(): Redis | undefined {
    return this.#connect({ maxRetriesPerRequest: null });
  }

  /**
   * Asks Redis for a write, because a full one still answers reads. A connection of its
   * own: nothing queues before it. Undefined when there is no Redis.
   */
  probe() {
    const client = this.commands(ANSWER_MS);
    const key = `${this.prefix}:plane:probe`;
    const probe = async (redis: Redis) => {
      if (redis.status === 'connecting' || redis.status === 'connect') await untilConnected(redis);
      await redis.set(key, '1', 'PX', KEY_TTL_MS);
    };
    return client && { timeoutMs: ANSWER_MS, probe: () => probe(client) };
  }

  /**
   * Whether Redis is one that this product can stand on; one that does not answer now is
   * asked when it does. @throws StartError for a cluster, a Sentinel, or a master that the
   *   Sentinels do not know
   */
  async check(): Promise<void> {
    const client = this.commands(ANSWER_MS);
    if (!client) return;
    const { masterName } = this.settings.redis;
    let unknown = false;
    client.on('error', ({ message }: Error) => (unknown ||= NO_SUCH_MASTER.test(message)));
    await untilConnected(client);
    if (unknown) throw new StartError(unknownMaster(masterName));
    if (client.status === 'ready') await this.#judge(client);
    else client.once('ready', () => void this.#judge(client).catch(this.#reported));
  }

  async #judge(client: Redis): Promise<void> {
    const info = await client.info().catch(() => '');
    this.#clients.splice(this.#clients.indexOf(client), 1);
    client.disconnect();
    const { warning, refusal } = judgedInfo(info);
    if (warning !== undefined) this.#logger.warn(warning);
    if (refusal !== undefined) throw new StartError(refusal);
  }

  readonly #reported = (error: Error): void => this.#logger.error(error.message);

  onApplicationShutdown(): void {
    for (const client of this.#clients.splice(0)) client.disconnect();
  }

  #connect(options: RedisOptions): Redis | undefined {
    const client =
      this.client &&
      new this.client({
        ...redisServer(this.settings.redis),
        disconnectTimeout: DISCONNECT_MS,
        connectTimeout: CONNECT_MS,
        ...options,
      });
    if (!client) return undefined;
    handleRejections(client);
    watchRedis(client);
    this.#watch(client);
    return client;
  }

  /** One line when it goes and one when it is back; ioredis reports every attempt. */
  #watch(client: Redis) {
    this.#clients.push(client);
    let away = false;
    client.on('error', (error: Error) => {
      if (!away)
        this.#logger.warn({ reason: error.message }, 'Redis is not reachable; trying again');
      away = true;
    });
    client.on('ready', () => {
      if (away) this.#logger.log('Redis is back');
      away = false;
    });
  }
}

/**
 * No command rejects unhandled, also those of libraries that await none: their errors
 * hold the password of a refused login. A subscription that failed is made when Redis is
 * ready; the client repeats only those that succeeded.
 */
function handleRejections(client: Redis) {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    command.promise.catch(() => {
      const { name, args } = command;
      if (/^p?subscribe$/.test(name))
        client.once('ready', () => void client.call(name, ...(args as string[])));
    });
    return send(command, stream);
  };
}

/**
 * In place of ioredis' `commandTimeout`, which ends commands that were answered while
 * this process was late. What fails is worded here, for all who send.
 */
function limitCommands(client: Redis, timeoutMs: number) {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    const budget = new WaitBudget(timeoutMs, () => new Error('Command timed out'));
    budget.spend(command.promise).catch((error: Error) => command.reject(error));
    const worded = (send(command, stream) as Promise<unknown>).catch((error: unknown) =>
      Promise.reject(redisProblem(error) as Error),
    );
    // As in `handleRejections`.
    worded.catch(() => undefined);
    return worded;
  };
}

/** Longer than any script of ours on a slow machine. */
const ANSWER_MS = 2000;
const KEY_TTL_MS = 1000;

/** The first attempt is not a failure. Never longer than the monitor waits. */
const untilConnected = (redis: Redis): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, ANSWER_MS).unref();
    const done = () => {
      clearTimeout(timer);
      redis.off('ready', done).off('close', done);
      resolve();
    };
    redis.on('ready', done).on('close', done);
  });

/** Redis, where the settings name one. */
@Module({
  providers: [
    {
      provide: RedisLink,
      inject: [Settings],
      useFactory: async (settings: Settings) =>
        new RedisLink(
          settings,
          namesRedis(settings.redis) ? (await import('ioredis')).Redis : undefined,
        ),
    },
  ],
  exports: [RedisLink],
})
export class RedisModule {}
