import { type Redis, type RedisOptions } from 'ioredis';
import {
  ANNOUNCEMENT_TTL_MS,
  HEARTBEAT_MS,
} from '../../contracts/queue-jobs/queue-messages.js';

/** Data of the thread that renews locks. */
export interface LockThreadData {
  readonly url: string;
  readonly options: Pick<RedisOptions, 'connectionName'>;
  /** Of the queue: `PREFIX:QUEUE`. */
  readonly queueKey: string;
  /**
   * Key of this worker's announcement: gateways free the locks of a worker whose
   * announcement expired.
   */
  readonly announcementKey: string;
  readonly lockMs: number;
}

export type ToLockThread =
  /** @param untilMs epoch; a process that hangs for longer loses the job */
  | {
      readonly type: 'hold';
      readonly id: string;
      readonly token: string;
      readonly untilMs: number;
    }
  | { readonly type: 'release'; readonly id: string; readonly token: string }
  | { readonly type: 'close' };

export type FromLockThread =
  | { readonly type: 'ready' }
  /** Another worker has these jobs, or they are finished. */
  | {
      readonly type: 'lost';
      readonly jobs: readonly { readonly id: string; readonly token: string }[];
    };

/**
 * KEYS[1] BullMQ's set of jobs that may be stalled, KEYS[2] the announcement,
 * KEYS[3..] locks; ARGV[1] milliseconds of locks, ARGV[2] of the announcement, then a
 * token and an id per lock. Returns the positions of locks that were lost. BullMQ's
 * own script rewrites the lock, which a Redis with full memory refuses; extending the
 * expiry is always allowed.
 */
const RENEW = `
local lost = {}
redis.call('PEXPIRE', KEYS[2], ARGV[2])
for i = 3, #KEYS do
  local token, id = ARGV[i * 2 - 3], ARGV[i * 2 - 2]
  if redis.call('GET', KEYS[i]) == token then
    redis.call('PEXPIRE', KEYS[i], ARGV[1])
    redis.call('SREM', KEYS[1], id)
  else
    lost[#lost + 1] = i - 2
  end
end
return lost`;

interface Held {
  readonly id: string;
  readonly token: string;
  readonly untilMs: number;
}

/**
 * Renews all locks of one process and its announcement, three times within their
 * lifetime, in one command.
 */
export class LockRenewal {
  readonly #held = new Map<string, Held>();
  readonly #timer: NodeJS.Timeout;
  #running = false;

  constructor(
    private readonly redis: Redis,
    private readonly data: Pick<
      LockThreadData,
      'queueKey' | 'announcementKey' | 'lockMs'
    >,
    private readonly send: (message: FromLockThread) => void,
  ) {
    this.#timer = setInterval(
      () => void this.#renew(),
      Math.min(data.lockMs / 3, HEARTBEAT_MS),
    );
  }

  receive(message: ToLockThread): void {
    if (message.type === 'hold') this.#held.set(message.id, message);
    else if (message.type === 'close') this.close();
    else if (this.#held.get(message.id)?.token === message.token)
      this.#held.delete(message.id);
  }

  close(): void {
    clearInterval(this.#timer);
    this.redis.disconnect();
  }

  async #renew(): Promise<void> {
    const now = Date.now();
    for (const held of this.#held.values())
      if (held.untilMs < now) this.#held.delete(held.id);
    // While Redis is unreachable the command in flight waits; a second one would only
    // queue behind it.
    if (this.#held.size === 0 || this.#running) return;
    this.#running = true;
    await this.#prolong([...this.#held.values()]).catch(() => undefined);
    this.#running = false;
  }

  async #prolong(jobs: readonly Held[]): Promise<void> {
    const { queueKey, announcementKey, lockMs } = this.data;
    const keys = [
      `${queueKey}:stalled`,
      announcementKey,
      ...jobs.map(({ id }) => `${queueKey}:${id}:lock`),
    ];
    const words = jobs.flatMap(({ token, id }) => [token, id]);
    const ms = [lockMs, ANNOUNCEMENT_TTL_MS];
    const places = (await this.redis.eval(
      RENEW,
      keys.length,
      ...keys,
      ...ms,
      ...words,
    )) as number[];
    const lost = places
      .map(place => jobs[place - 1]!)
      .filter(job => this.#held.get(job.id) === job);
    for (const { id } of lost) this.#held.delete(id);
    if (lost.length > 0)
      this.send({ type: 'lost', jobs: lost.map(({ id, token }) => ({ id, token })) });
  }
}
