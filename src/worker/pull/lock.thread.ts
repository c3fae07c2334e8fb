import { parentPort, workerData } from 'node:worker_threads';
import { Redis, type RedisOptions } from 'ioredis';
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

interface Hold {
  readonly type: 'hold';
  readonly id: string;
  readonly token: string;
  /** Epoch; a process that hangs for longer loses the job. */
  readonly untilMs: number;
}

export type ToLockThread =
  | Hold
  | { readonly type: 'release'; readonly id: string; readonly token: string }
  | { readonly type: 'close' };

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

const port = parentPort;
if (port === null)
  throw new Error('This module is the entry of a thread; it cannot run on its own.');
const { url, options, queueKey, announcementKey, lockMs } = workerData as LockThreadData;
const held = new Map<string, Hold>();
const redis = new Redis(url, {
  ...options,
  maxRetriesPerRequest: null,
  retryStrategy: () => 100,
});
// The main thread reports that Redis is unreachable.
redis.on('error', () => undefined);
let isRunning = false;

/** All locks of the process and its announcement, in one command. */
const prolong = async (jobs: readonly Hold[]): Promise<void> => {
  const keys = [
    `${queueKey}:stalled`,
    announcementKey,
    ...jobs.map(({ id }) => `${queueKey}:${id}:lock`),
  ];
  const words = jobs.flatMap(({ token, id }) => [token, id]);
  const ms = [lockMs, ANNOUNCEMENT_TTL_MS];
  const places = (await redis.eval(
    RENEW,
    keys.length,
    ...keys,
    ...ms,
    ...words,
  )) as number[];
  const lost = places
    .map(place => jobs[place - 1]!)
    .filter(job => held.get(job.id) === job);
  for (const { id } of lost) held.delete(id);
  if (lost.length > 0) port.postMessage(lost);
};

const renew = async (): Promise<void> => {
  const now = Date.now();
  for (const { id, untilMs } of held.values()) if (untilMs < now) held.delete(id);
  // While Redis is unreachable the command in flight waits; a second one would only
  // queue behind it.
  if (held.size === 0 || isRunning) return;
  isRunning = true;
  await prolong([...held.values()]).catch(() => undefined);
  isRunning = false;
};

/** Three times within the lifetime of a lock. */
const timer = setInterval(() => void renew(), Math.min(lockMs / 3, HEARTBEAT_MS));
port.on('message', (message: ToLockThread) => {
  if (message.type === 'hold') held.set(message.id, message);
  else if (message.type === 'close') {
    clearInterval(timer);
    redis.disconnect();
    port.close();
  } else if (held.get(message.id)?.token === message.token) held.delete(message.id);
});
// Nothing is lost: it runs.
port.postMessage([]);
