import { parentPort, workerData } from 'node:worker_threads';
import { Redis, type RedisOptions } from 'ioredis';
import { ANNOUNCEMENT_TTL_MS, HEARTBEAT_MS } from '../heartbeat.js';

/** Data of the thread that renews locks. */
export interface LockThreadData {
  readonly options: RedisOptions;
  /** `PREFIX:QUEUE` */
  readonly queueKey: string;
  /**
   * Key of this worker's announcement: gateways free the locks of a worker whose
   * announcement expired.
   */
  readonly announcementKey: string;
  readonly lockMs: number;
}

/** To the thread, beside 'alive': one lock by its token. It answers with the tokens of locks that were lost. */
export interface LockOrder {
  readonly token: string;
  /** The job whose lock is renewed; absent: the lock is released. */
  readonly hold?: {
    /** Id of the job. */
    readonly id: string;
    /** Milliseconds without a sign of life of the process after which it loses the job. */
    readonly silentMs: number;
  };
}

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
const { options, queueKey, announcementKey, lockMs } = workerData as LockThreadData;
/** Milliseconds without a reply after which the connection is made anew: its link is frozen. */
const SILENT_MS = 7000;
/** Held locks by token. */
const held = new Map<string, NonNullable<LockOrder['hold']>>();
const redis = new Redis({
  ...options,
  maxRetriesPerRequest: null,
  retryStrategy: () => 100,
  socketTimeout: SILENT_MS,
});
// The main thread reports that Redis is unreachable.
redis.on('error', () => undefined);
let isRunning = false;
/** Monotonic; the last sign of life of the thread that runs the jobs. */
let aliveMs = performance.now();

/** Renews all locks of the process and its announcement in one command. */
const prolong = async (locks: readonly (readonly [string, { id: string }])[]) => {
  const keys = [
    `${queueKey}:stalled`,
    announcementKey,
    ...locks.map(([, { id }]) => `${queueKey}:${id}:lock`),
  ];
  const words = locks.flatMap(([token, { id }]) => [token, id]);
  const ms = [lockMs, ANNOUNCEMENT_TTL_MS];
  const places = (await redis.eval(RENEW, keys.length, ...keys, ...ms, ...words)) as number[];
  const lost = places.map(place => locks[place - 1]![0]).filter(token => held.delete(token));
  if (lost.length > 0) port.postMessage(lost);
};

const renew = async (): Promise<void> => {
  const now = performance.now();
  for (const [token, { silentMs }] of held) if (now - aliveMs > silentMs) held.delete(token);
  // While Redis is unreachable the command in flight waits; a second one would only
  // queue behind it.
  if (held.size === 0 || isRunning) return;
  isRunning = true;
  await prolong([...held]).catch(() => undefined);
  isRunning = false;
};

/** Locks are renewed three times within their lifetime. */
setInterval(() => void renew(), Math.min(lockMs / 3, HEARTBEAT_MS));
port.on('message', (order: LockOrder | 'alive') => {
  aliveMs = performance.now();
  if (order === 'alive') return;
  const { token, hold } = order;
  if (hold) held.set(token, hold);
  else held.delete(token);
});
// Nothing is lost: it runs.
port.postMessage([]);
