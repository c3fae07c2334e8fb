import { Inject, Injectable } from '@nestjs/common';
import { type Redis } from 'ioredis';
import { SETTINGS, type Settings } from '../config/settings.js';
import { RedisLink } from './redis-link.js';

/** Longer than any script of ours on a slow machine. */
const ANSWER_MS = 2000;
const KEY_TTL_MS = 1000;

/** Asks Redis for a write, because a full one still answers reads. A connection of its own: nothing queues before it. */
@Injectable()
export class RedisProbe {
  readonly timeoutMs = ANSWER_MS;
  readonly #redis: Redis | undefined;
  readonly #key: string;

  constructor(link: RedisLink, @Inject(SETTINGS) { redis }: Settings) {
    this.#redis = link.commands(ANSWER_MS);
    this.#key = `${redis.prefix}:plane:probe`;
  }

  /** There is a Redis. */
  get enabled(): boolean {
    return this.#redis !== undefined;
  }

  async probe(): Promise<void> {
    if (this.#redis?.status === 'connecting' || this.#redis?.status === 'connect') await untilConnected(this.#redis);
    await this.#redis?.set(this.#key, '1', 'PX', KEY_TTL_MS);
  }
}

/** The first attempt is not a failure. Never longer than the monitor waits. */
const untilConnected = (redis: Redis): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, ANSWER_MS).unref();
    const done = (): void => {
      clearTimeout(timer);
      redis.off('ready', done).off('close', done);
      resolve();
    };
    redis.on('ready', done).on('close', done);
  });
