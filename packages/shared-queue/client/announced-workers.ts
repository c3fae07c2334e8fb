import { ANNOUNCEMENT_TTL_MS } from '../heartbeat.js';
import { readAnnouncement, type WorkerAnnouncement } from '../messages.codec.js';
import { type QueueLink } from './queue-link.js';

/** A worker whose last heartbeat is this old is removed. */
const FORGOTTEN_MS = 100 * ANNOUNCEMENT_TTL_MS;

/** What all workers that pull announce now, by their ids. @throws while Redis is away */
export async function announcedWorkers<Health extends object>({
  redis,
  keys,
  clock,
}: QueueLink): Promise<WorkerAnnouncement<Health>[]> {
  await clock.read(redis);
  await redis.zremrangebyscore(keys.workers, '-inf', clock.nowMs() - FORGOTTEN_MS);
  const ids = await redis.zrange(keys.workers, 0, '-1');
  if (ids.length === 0) return [];
  const found = (await redis.mget(ids.map(id => keys.worker(id)))).map(readAnnouncement<Health>);
  return found.filter(worker => worker !== undefined).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * KEYS[1] BullMQ's active jobs of a queue, KEYS[2] its jobs that may be stalled; ARGV[1]
 * what the keys of the queue begin with, ARGV[2] the beginning of a dead worker's tokens,
 * ARGV[3] milliseconds that its locks have left at most. They end now: the next check of
 * any worker moves the jobs to the front of the queue. Returns their number.
 */
const FREE = `
local freed = 0
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local lock = ARGV[1] .. id .. ':lock'
  local isIts = string.find(redis.call('GET', lock) or '', ARGV[2], 1, true) == 1
  if isIts and redis.call('PTTL', lock) <= tonumber(ARGV[3]) then
    freed = freed + redis.call('DEL', lock)
    redis.call('SADD', KEYS[2], id)
  end
end
return freed`;

/**
 * Frees the jobs of a worker that is gone. Their number. @throws while Redis is away
 * @param silentMs locks that were renewed later than that ago are those of a worker that lives
 */
export async function freeJobs(
  { redis, keys, access }: QueueLink,
  { model, lockOwner }: Pick<WorkerAnnouncement, 'model' | 'lockOwner'>,
  silentMs: number,
): Promise<number> {
  if (lockOwner === undefined) return 0;
  const base = keys.base(model);
  const rest = [base, `${lockOwner}:`, access.lockMs - silentMs];
  return (await redis.eval(FREE, 2, `${base}active`, `${base}stalled`, ...rest)) as number;
}
