import { STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type ChainableCommander } from 'ioredis';
import { type QueueJob } from '../job.codec.js';
import { type JobPriority, QueueJobClass } from '../keys.js';
import { type QueueLog } from '../log.js';
import { type StopNote } from '../messages.codec.js';
import { type QueueAccounts, RedisOrder } from '../order/redis-order.js';
import { ResultExpiry } from '../result-expiry.js';
import { BullmqQueues } from './bullmq-queues.js';
import { FACTS, factsOf, type JobFacts } from './job-facts.js';
import { type QueueLink } from './queue-link.js';

/**
 * One script, so that no worker takes the job meanwhile. Data and options are compared
 * with what was read, so that two changes at once are one after the other. A job that was
 * released to a worker, or came back from a dead one, keeps its place, which does not
 * depend on its priority. The others become arrivals of their new class (`order/redis-order`).
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

/** Field of BullMQ's hash of a job: the attempt that joined it last. */
const JOINED = 'joined';
/** A job that is gone must not come back as a hash with this field alone. */
const JOIN = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end`;

/**
 * Decides between a stop and the end of a job: one that has finished is not stopped. The note
 * also stops a job that is not there, as one that is about to be queued again; 0 says that
 * nothing was stopped for certain.
 */
const STOP = `
if redis.call('HGET', KEYS[1], 'finishedOn') then return 0 end
local joined = redis.call('HGET', KEYS[1], '${JOINED}')
if ARGV[4] ~= '' and joined and joined ~= ARGV[4] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[1])
return redis.call('EXISTS', KEYS[1])`;

/**
 * Counts by priority at one instant. Jobs that were released, or came back from a dead
 * worker, have left their class: the priority of those few is read from the options they
 * were queued with. The oldest of a class is its first, sorted or arrival
 * (`order/redis-order`), or one of those few.
 */
const COUNT = `
local from = function(class) return class * 0x100000000 end
local realtime = redis.call('ZCOUNT', KEYS[2], from(2), from(3) - 1)
local batch = redis.call('ZCOUNT', KEYS[2], from(3), '+inf')
local oldest = { [2] = -1, [3] = -1 }
local look = function(id, class)
  local at = tonumber(redis.call('HGET', ARGV[1] .. id, 'timestamp') or -1)
  if at >= 0 and (oldest[class] < 0 or at < oldest[class]) then oldest[class] = at end
end
local moved = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', from(2) - 1)
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do moved[#moved + 1] = id end
for _, id in ipairs(moved) do
  local opts = redis.call('HGET', ARGV[1] .. id, 'opts') or '{}'
  local isRealtime = string.find(opts, '"priority":2', 1, true)
  if isRealtime then realtime = realtime + 1 else batch = batch + 1 end
  look(id, isRealtime and 2 or 3)
end
for class = 2, 3.5, 0.5 do
  local head = redis.call('ZRANGEBYSCORE', KEYS[2], from(class), '(' .. from(class + 0.5), 'LIMIT', 0, 1)
  for _, id in ipairs(head) do look(id, math.floor(class)) end
end
return { realtime, batch, redis.call('LLEN', KEYS[3]), oldest[2], oldest[3] }`;

/** What is no JSON object stays as it is: its worker reports it. */
function changed(json: string, fields: Readonly<Record<string, unknown>>): string {
  const value = jsonIn(json, STORED_BOUNDS);
  return isObject(value) ? writeJson({ ...value, ...fields }) : json;
}

/** Where one request is in Redis. */
export interface JobRef {
  readonly model: string;
  readonly jobId: string;
}

/** A request as the name of its job needs it. */
interface Named {
  readonly id: string;
  readonly tenant?: string | undefined;
}

/**
 * The BullMQ queues, one per model: adding, removing, stopping, and what they say about
 * jobs. Every method rejects while Redis is away.
 */
export class ModelQueues {
  private constructor(
    private readonly link: QueueLink,
    private readonly options: {
      /** Ids of the current models. */
      readonly models: () => readonly string[];
      /** Weight of a tenant. */
      readonly weightOf: (tenant: string | undefined) => number;
      readonly log: Pick<QueueLog, 'debug'>;
    },
    private readonly queues: BullmqQueues,
  ) {}

  /** Loads BullMQ only where the queue is shared. */
  static async open(
    link: QueueLink & { readonly enabled: boolean },
    options: ModelQueues['options'],
  ): Promise<ModelQueues> {
    const bullmq = link.enabled ? await import('bullmq') : undefined;
    return new ModelQueues(link, options, new BullmqQueues(link, options.log, bullmq));
  }

  close(): Promise<void> {
    return this.queues.close();
  }

  ref(model: string, { id, tenant }: Named): JobRef {
    return { model, jobId: this.link.keys.job(id, tenant) };
  }

  /** Where a request could be: one place per model. */
  refs(request: Named): JobRef[] {
    return this.options.models().map(model => this.ref(model, request));
  }

  /**
   * Queues the job, unless one of that id is there: then nothing happens. A stop of an
   * earlier one is forgotten.
   */
  async add(
    { job, costMs: cost }: { readonly job: QueueJob; readonly costMs: number },
    { model, jobId }: JobRef,
  ): Promise<void> {
    const age = Math.ceil(this.link.access.resultTtlMs / 1000);
    const { redis, keys } = this.link;
    await redis.del(keys.stop(keys.queue(model), jobId));
    const kept = { removeOnComplete: { age }, removeOnFail: { age } };
    // BullMQ keeps options that it does not know: the scripts of the order read
    // the cost there.
    const options = {
      jobId,
      timestamp: job.acceptedMs,
      priority: classOf(job.priority),
      ...kept,
      cost,
    };
    await this.queues.of(model).add(job.kind, job, options);
    await this.#quietly(this.weigh(model, job.tenant));
  }

  /** Gives new jobs their places, with the weight that the tenant has now. */
  async weigh(model: string, tenant: string | undefined): Promise<void> {
    const weight = this.options.weightOf(tenant);
    await this.#order().sort(model, { owner: this.link.keys.owner(tenant), weight });
  }

  /** What one tenant has waiting, by model. Bytes are not known in Redis. */
  async loadOf(tenant: string | undefined) {
    const [order, owner] = [this.#order(), this.link.keys.owner(tenant)];
    return Promise.all(
      this.options.models().map(async model => ({ model, ...(await order.load(model, owner)) })),
    );
  }

  /** Requests of the tenant go after those of others, and run alone, for so long (D-51). */
  async suspect(model: string, tenant: string | undefined, ms: number): Promise<void> {
    await this.link.redis.set(this.link.keys.suspect(model, tenant), 1, 'PX', ms);
  }

  /** Splits device milliseconds among the tenants whose requests wait or run. */
  async charge(model: string, ms: number): Promise<void> {
    await this.#order().charge(model, ms);
  }

  /** The accounts of tenants, and what they have waiting. */
  accounts(model: string): Promise<QueueAccounts> {
    return this.#order().accounts(model);
  }

  /**
   * Gives a waiting job another priority: its class, its data and its options. Its place
   * follows when arrivals are sorted. Gateways that wait for it learn of it from the event
   * stream.
   * @returns false when no such job waits. @throws when Redis does not answer.
   */
  async reprioritize(ref: JobRef, priority: JobPriority): Promise<boolean> {
    const isChanged = await this.#change(ref, priority);
    if (isChanged) await this.#quietly(this.#order().sort(ref.model));
    return isChanged;
  }

  async #change({ model, jobId }: JobRef, priority: JobPriority): Promise<boolean> {
    const { redis } = this.link;
    const base = this.link.keys.base(model);
    const keys = ['prioritized', 'wait', 'events'].map(part => base + part);
    const level = classOf(priority);
    for (;;) {
      const [data, opts] = await redis.hmget(base + jobId, 'data', 'opts');
      if (data == null || opts == null) return false;
      const asked = [base, jobId, level, priority, data, opts];
      const written = [changed(data, { priority }), changed(opts, { priority: level })];
      const done = await redis.eval(CHANGE, keys.length, ...keys, ...asked, ...written);
      if (done !== -1) return done === 1;
    }
  }

  /** @returns true when it was removed, false when a worker has it */
  async remove({ model, jobId }: JobRef): Promise<boolean> {
    const removed = (await this.queues.of(model).remove(jobId)) === 1;
    if (removed) await this.#quietly(this.#order().leave(model, jobId));
    return removed;
  }

  /** Its gateway has the answer: it stays for a while only. Milliseconds of that while. */
  async answered({ model, jobId }: JobRef): Promise<number> {
    const { keys, answeredMs } = this.link;
    await this.#expiry().expire(keys.base(model), jobId, answeredMs, true);
    return answeredMs;
  }

  /** Removes finished jobs and events that have outlived their time, for all gateways. */
  async sweep(): Promise<void> {
    for (const id of this.options.models()) await this.#expiry().sweep(this.link.keys.base(id));
  }

  /** Facts in the order of `refs`; undefined for a job that does not exist. */
  async facts(refs: readonly JobRef[]): Promise<(JobFacts | undefined)[]> {
    const pipeline = this.link.redis.pipeline();
    for (const ref of refs) {
      const key = this.#key(ref);
      // The lock first: one that ends in between belongs to a job that is finished in
      // the second reply.
      pipeline.pttl(`${key}:lock`).hmget(key, ...FACTS);
    }
    const replies = await this.#repliesOf(pipeline);
    return refs.map((_, at) =>
      factsOf(replies[2 * at + 1] as (string | null)[], replies[2 * at] as number),
    );
  }

  /** The data of a job, from any writer: nothing is certain of it. Undefined: none, or no JSON. */
  async data(ref: JobRef): Promise<Partial<QueueJob> | undefined> {
    const data = await this.link.redis.hget(this.#key(ref), 'data');
    const value = data === null ? undefined : jsonIn(data, STORED_BOUNDS);
    return value === undefined || isObject(value) ? value : {};
  }

  /** All that waits, by model: two commands a model, for every request that comes in. */
  async waiting(): Promise<ReadonlyMap<string, number>> {
    const pipeline = this.link.redis.pipeline();
    const models = this.options.models();
    for (const id of models) {
      const base = this.link.keys.base(id);
      pipeline.llen(`${base}wait`).zcard(`${base}prioritized`);
    }
    const counts = (await this.#repliesOf(pipeline)) as number[];
    return new Map(models.map((id, at) => [id, (counts[2 * at] ?? 0) + (counts[2 * at + 1] ?? 0)]));
  }

  /**
   * Waiting, running, and since when the oldest of each class waits: epoch milliseconds of
   * Redis, Infinity for none.
   */
  async counts(model: string) {
    const base = this.link.keys.base(model);
    const places = ['wait', 'prioritized', 'active'].map(state => `${base}${state}`);
    const counts = await this.link.redis.eval(COUNT, places.length, ...places, base);
    const [realtime = 0, batch = 0, running = 0, ...oldest] = counts as number[];
    const [oldestRealtimeMs = Infinity, oldestBatchMs = Infinity] = oldest.map(orNone);
    return { realtime, batch, running, oldestRealtimeMs, oldestBatchMs };
  }

  /** Ids of jobs that came back from dead workers: they are taken before all others, in this order. */
  async returned(model: string, most: number): Promise<string[]> {
    return (await this.link.redis.lrange(`${this.link.keys.base(model)}wait`, -most, -1)).reverse();
  }

  /** Ids of jobs that workers have, the first that was taken first. */
  async running(model: string, most: number): Promise<string[]> {
    const active = await this.link.redis.lrange(`${this.link.keys.base(model)}active`, 0, most - 1);
    return active.reverse();
  }

  /** The attempt joins a job that is there: it is the last to have done so. */
  async join(ref: JobRef, attempt: string): Promise<void> {
    await this.link.redis.eval(JOIN, 1, this.#key(ref), JOINED, attempt);
  }

  /**
   * Decides between a stop and the end of a job. True: it had not finished, and is stopped.
   * @param attempt whose end is the reason: another attempt that joined the job keeps it.
   *   Undefined: it is stopped for all
   */
  async stop(ref: JobRef, reason: string, attempt: string | undefined): Promise<boolean> {
    const { redis, keys, access } = this.link;
    const queue = keys.queue(ref.model);
    const note = writeJson({ queue, jobId: ref.jobId, reason } satisfies StopNote);
    const places = [this.#key(ref), keys.stop(queue, ref.jobId)];
    const rest = [note, access.resultTtlMs, keys.stops, attempt ?? ''];
    return (await redis.eval(STOP, places.length, ...places, ...rest)) === 1;
  }

  async #repliesOf(pipeline: ChainableCommander): Promise<unknown[]> {
    return ((await pipeline.exec()) ?? []).map(([error, reply]) => {
      if (error) throw this.link.failure(error);
      return reply;
    });
  }

  /** What the accounts miss now is found when the next job is taken. */
  async #quietly(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) =>
      this.options.log.debug({ err: error }, 'the order of the queue was not updated'),
    );
  }

  #key({ model, jobId }: JobRef): string {
    return `${this.link.keys.base(model)}${jobId}`;
  }

  #order(): RedisOrder {
    const { redis, keys, access } = this.link;
    return new RedisOrder({ redis, keys, ...access });
  }

  #expiry(): ResultExpiry {
    return new ResultExpiry(this.link.redis, this.link.access.resultTtlMs);
  }
}

const orNone = (atMs: number): number => (atMs < 0 ? Infinity : atMs);

/** The class of a job that has not aged. */
const classOf = (priority: JobPriority): QueueJobClass =>
  priority === 'realtime' ? QueueJobClass.REALTIME : QueueJobClass.BATCH;
