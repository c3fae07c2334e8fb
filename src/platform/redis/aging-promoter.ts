import { type Redis } from 'ioredis';
import { QueueJobClass, type QueueKeys } from '../../contracts/queue-jobs/queue-keys.js';

/**
 * Moves what waited longer than ARGV[2] from both lanes into the class of the aged, merged by time of acceptance. Both
 * lanes are in order of time, so looking stops at the first one that is young. One script, so no lock: the first caller
 * second finds nothing. The score is BullMQ's own (`getPriorityScore`): class · 2^32 + counter. Reads heads only, never
 * the data of jobs.
 */
const PROMOTE = `
local old = {}
for class = 2, 3 do
  local from = class * 0x100000000
  local ids = redis.call('ZRANGEBYSCORE', KEYS[1], from, from + 0xFFFFFFFF, 'LIMIT', 0, tonumber(ARGV[3]))
  for _, id in ipairs(ids) do
    local at = tonumber(redis.call('HGET', ARGV[1] .. id, 'timestamp') or ARGV[2])
    if at > tonumber(ARGV[2]) then break end
    old[#old + 1] = { id = id, at = at, place = #old }
  end
end
table.sort(old, function(a, b) if a.at == b.at then return a.place < b.place end return a.at < b.at end)
local moved = {}
for _, job in ipairs(old) do
  local counter = redis.call('INCR', KEYS[2])
  redis.call('ZADD', KEYS[1], 0x100000000 + counter % 0x100000000, job.id)
  redis.call('HSET', ARGV[1] .. job.id, 'priority', 1)
  moved[#moved + 1] = job.id
end
return moved`;

/** Of one lane in one go; more of them wait for the next. */
const MOST = 1000;

export interface AgingPromoterOptions {
  readonly redis: Redis;
  readonly keys: QueueKeys;
  /** `queue.aging_ms` */
  readonly agingMs: number;
}

/**
 * Makes requests that waited long enough go first, by time of acceptance (D-03). Gateways ask on a timer, workers
 * before they take: it is decided when choosing.
 */
export class AgingPromoter {
  constructor(private readonly options: AgingPromoterOptions) {}

  /** @returns job ids that were moved, oldest first. @param nowMs epoch milliseconds */
  async promote(model: string, nowMs = Date.now()): Promise<string[]> {
    const { redis, keys, agingMs } = this.options;
    const base = `${keys.prefix}:${keys.queue(model)}:`;
    const places = [`${base}prioritized`, `${base}pc`];
    return (await redis.eval(PROMOTE, places.length, ...places, base, nowMs - agingMs, MOST)) as string[];
  }
}

/** True for a job of BATCH that its age moved up. */
export const isPromoted = (priority: number, lane: 'realtime' | 'batch'): boolean =>
  priority === QueueJobClass.AGED && lane === 'batch';
