import { type Redis } from 'ioredis';
import { classOf } from '../../contracts/queue-jobs/queue-keys.js';
import { isObject } from '../../core/shared/schema.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';

/**
 * One script, so that no worker takes the job meanwhile. Data and options are compared with what was read, so that two
 * changes at once are one after the other. A job that has aged, or came back from a dead worker, keeps its place, which
 * does not depend on its priority. The others are in order of time within their class, so the place is found by
 * halving:
 * a score between those of its neighbours, or the next one of BullMQ's counter (`getPriorityScore`) behind the last.
 */
const CHANGE = `
local prioritized, wait, counter, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local base, id, class, priority = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local job = base .. id
local score = tonumber(redis.call('ZSCORE', prioritized, id) or '')
if not score and not redis.call('LPOS', wait, id) then return 0 end
local stored = redis.call('HMGET', job, 'data', 'opts', 'timestamp')
if stored[1] ~= ARGV[5] or stored[2] ~= ARGV[6] then return -1 end
redis.call('HSET', job, 'data', ARGV[7], 'opts', ARGV[8])
redis.call('XADD', events, '*', 'event', 'reprioritized', 'jobId', id, 'priority', priority)
if not score or score < 0x200000000 then return 1 end

redis.call('HSET', job, 'priority', class)
redis.call('ZREM', prioritized, id)
local from = class * 0x100000000
local first = redis.call('ZCOUNT', prioritized, '-inf', '(' .. from)
local last = first + redis.call('ZCOUNT', prioritized, from, '(' .. (from + 0x100000000))
local low, high = first, last
while low < high do
  local middle = math.floor((low + high) / 2)
  local other = redis.call('ZRANGE', prioritized, middle, middle)[1]
  local at = tonumber(redis.call('HGET', base .. other, 'timestamp') or 0)
  if at <= tonumber(stored[3]) then low = middle + 1 else high = middle end
end
local scoreAt = function(rank) return tonumber(redis.call('ZRANGE', prioritized, rank, rank, 'WITHSCORES')[2]) end
local place = from
if low == last then place = from + redis.call('INCR', counter) % 0x100000000
elseif low == first then place = (from + scoreAt(low)) / 2
else place = (scoreAt(low - 1) + scoreAt(low)) / 2 end
redis.call('ZADD', prioritized, place, id)
return 1`;

export interface JobPriorityChange {
  /** Before BullMQ's keys of the queue. */
  readonly base: string;
  readonly jobId: string;
  readonly priority: PriorityLabel;
}

/**
 * Gives a waiting job another priority: its class, its place by the time it was accepted, its data and its options.
 * Gateways that wait for it learn of it from the event stream.
 * @returns false when no such job waits. @throws when Redis does not answer.
 */
export async function changeJobPriority(redis: Redis, change: JobPriorityChange): Promise<boolean> {
  const { base, jobId, priority } = change;
  const keys = ['prioritized', 'wait', 'pc', 'events'].map(part => base + part);
  for (;;) {
    const [data, opts] = await redis.hmget(base + jobId, 'data', 'opts');
    if (data == null || opts == null) return false;
    const asked = [jobId, classOf(priority), priority, data, opts];
    const written = [changed(data, { priority }), changed(opts, { priority: classOf(priority) })];
    const done = await redis.eval(CHANGE, keys.length, ...keys, base, ...asked, ...written);
    if (done !== -1) return done === 1;
  }
}

/** What is no JSON object stays as it is: its worker reports it. */
function changed(json: string, fields: Readonly<Record<string, unknown>>): string {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? JSON.stringify({ ...value, ...fields }) : json;
  } catch {
    return json;
  }
}
