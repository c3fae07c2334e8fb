import { type Redis } from 'ioredis';
import { classOf } from '../../contracts/queue-jobs/queue-keys.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';

/**
 * One script, so that no worker takes the job meanwhile. Data and options are compared
 * with what was read, so that two changes at once are one after the other. A job that was
 * released to a worker, or came back from a dead one, keeps its place, which does not
 * depend on its priority. The others become arrivals of their new class (`redis-order`).
 */
const CHANGE = `
local prioritized, wait, events = KEYS[1], KEYS[2], KEYS[3]
local base, id, class, priority = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local job = base .. id
local score = tonumber(redis.call('ZSCORE', prioritized, id) or '')
if not score and not redis.call('LPOS', wait, id) then return 0 end
local stored = redis.call('HMGET', job, 'data', 'opts')
if stored[1] ~= ARGV[5] or stored[2] ~= ARGV[6] then return -1 end
redis.call('HSET', job, 'data', ARGV[7], 'opts', ARGV[8])
redis.call('XADD', events, '*', 'event', 'reprioritized', 'jobId', id, 'priority', priority)
if score and score >= 0x100000000 then redis.call('ZADD', prioritized, class * 0x100000000, id) end
return 1`;

interface JobPriorityChange {
  /** Before BullMQ's keys of the queue. */
  readonly base: string;
  readonly jobId: string;
  readonly priority: PriorityLabel;
}

/**
 * Gives a waiting job another priority: its class, its data and its options. Its
 * place follows when arrivals are sorted. Gateways that wait for it learn of it from
 * the event stream.
 * @returns false when no such job waits. @throws when Redis does not answer.
 */
export async function changeJobPriority(
  redis: Redis,
  change: JobPriorityChange,
): Promise<boolean> {
  const { base, jobId, priority } = change;
  const keys = ['prioritized', 'wait', 'events'].map(part => base + part);
  for (;;) {
    const [data, opts] = await redis.hmget(base + jobId, 'data', 'opts');
    if (data == null || opts == null) return false;
    const asked = [jobId, classOf(priority), priority, data, opts];
    const written = [
      changed(data, { priority }),
      changed(opts, { priority: classOf(priority) }),
    ];
    const done = await redis.eval(
      CHANGE,
      keys.length,
      ...keys,
      base,
      ...asked,
      ...written,
    );
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
