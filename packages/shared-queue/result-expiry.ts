import { type Redis } from 'ioredis';
import { MAX_EVENTS } from './keys.js';

/** A job that was stopped is kept this long: other gateways may wait for the same id. */
const STOPPED_TTL_MS = 10_000;

/** Older entries of an event stream are removed. Milliseconds. */
const EVENTS_TTL_MS = 60_000;

/**
 * KEYS: the job, the sets of finished jobs. ARGV: milliseconds, job id, 1 when it is no
 * longer looked up in a set. A job that was queued again under the same id is not
 * finished, and must not expire.
 */
const EXPIRE = `
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 0 then return 0 end
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
if ARGV[3] == '1' then
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('ZREM', KEYS[3], ARGV[2])
end
return 1`;

/**
 * KEYS: a set of finished jobs. ARGV: before every job key, milliseconds that results live,
 * jobs to look at, the option by which a job's writer chooses how long it stays: that choice
 * is kept.
 */
const SWEEP = `
local gone, now = {}, redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local function chosen(key)
  local read, opts = pcall(cjson.decode, redis.call('HGET', key, 'opts') or '{}')
  local rule = nil
  if read and type(opts) == 'table' then rule = opts[ARGV[4]] end
  return rule ~= nil and not (type(rule) == 'table' and rule.age)
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[3]) - 1)) do
  local key = ARGV[1] .. id
  local finished = tonumber(redis.call('HGET', key, 'finishedOn') or -1)
  if finished < 0 then
    gone[#gone + 1] = id
  elseif finished + tonumber(ARGV[2]) <= now and not chosen(key) then
    redis.call('UNLINK', key, key .. ':logs')
    gone[#gone + 1] = id
  end
end
for from = 1, #gone, 1000 do
  redis.call('ZREM', KEYS[1], unpack(gone, from, math.min(from + 999, #gone)))
end`;

/**
 * KEYS: an event stream, `meta` of its queue. ARGV: milliseconds that entries stay, entries
 * that BullMQ keeps.
 */
const TRIM = `
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('XTRIM', KEYS[1], 'MINID', redis.call('TIME')[1] * 1000 - ARGV[1])
redis.call('HSET', KEYS[2], 'opts.maxLenEvents', ARGV[2])`;

/** Finished jobs that one sweep looks at, oldest first. */
const MOST = 5000;

const SETS = { completed: 'removeOnComplete', failed: 'removeOnFail' } as const;

/** Milliseconds between two sweeps: no longer than a result lives. */
export const sweepEveryMs = (resultTtlMs: number): number => Math.min(60_000, resultTtlMs);

/** How long finished jobs and events of a queue stay in Redis. */
export class ResultExpiry {
  constructor(
    private readonly redis: Redis,
    /** `redis.result_ttl_ms` */
    private readonly resultTtlMs: number,
  ) {}

  /** Milliseconds that a stopped job stays. */
  get stoppedMs(): number {
    return Math.min(STOPPED_TTL_MS, this.resultTtlMs);
  }

  /**
   * A finished job expires after that long at the latest. One that waits or runs
   * is left alone. @param base before every key of the queue. @param isUnlisted its result
   * was read: it is no longer listed as finished
   */
  async expire(base: string, jobId: string, ms: number, isUnlisted = false): Promise<void> {
    const keys = [`${base}${jobId}`, ...Object.keys(SETS).map(set => `${base}${set}`)];
    const args = [Math.ceil(ms), jobId, isUnlisted ? 1 : 0];
    await this.redis.eval(EXPIRE, keys.length, ...keys, ...args);
  }

  /**
   * Removes finished jobs that were not expired, names of those that were, and old
   * events.
   */
  async sweep(base: string): Promise<void> {
    for (const [set, option] of Object.entries(SETS)) {
      const args = [base, this.resultTtlMs, MOST, option];
      await this.redis.eval(SWEEP, 1, `${base}${set}`, ...args);
    }
    await this.redis.eval(TRIM, 2, `${base}events`, `${base}meta`, EVENTS_TTL_MS, MAX_EVENTS);
  }
}
