import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
  Optional,
} from '@nestjs/common';
import { STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type Queue } from 'bullmq';
import { type ChainableCommander } from 'ioredis';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { MAX_EVENTS, QueueJobClass } from '../../contracts/queue-jobs/queue-keys.js';
import { DEFAULT_TENANT, type RequestRef } from '../../core/request/request-key.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { RedisOrder, type QueueAccounts } from '../../platform/redis/redis-order.js';
import { redisProblem } from '../../platform/redis/redis-problems.js';
import { ResultExpiry } from '../../platform/redis/result-expiry.js';
import { type PlacedJob } from './payload-blobs.js';
import { SharedQueueLink } from './shared-queue-link.js';

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

/** What BullMQ knows of a job besides its data. */
export interface JobFacts {
  readonly priority: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** Name of the worker that took it last. */
  readonly workerId?: string;
  /** A worker has it now. */
  readonly taken: boolean;
  /** Epoch milliseconds at which a worker took it last. */
  readonly takenMs?: number;
  /** Workers that had it. */
  readonly attempts: number;
  readonly finished: boolean;
  /** What the worker completed it with, as JSON. */
  readonly returnValue?: string;
  /** BullMQ failed it: its workers died too often. */
  readonly failedReason?: string;
}

const FACTS = [
  'priority',
  'timestamp',
  'pb',
  'processedOn',
  'finishedOn',
  'returnvalue',
  'failedReason',
  'ats',
];

/**
 * The BullMQ queues, one per model: adding, removing, and what they say about one job.
 */
@Injectable()
export class ModelQueues implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(ModelQueues.name);
  readonly #queues = new Map<string, Queue>();
  /** An embedded queue does without BullMQ. */
  #bullmq: { readonly Queue: typeof Queue } | undefined;

  constructor(
    private readonly link: SharedQueueLink,
    @Inject(MODELS) private readonly models: readonly ModelSpec[],
    @Optional() readonly keyRing?: KeyRing,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.link.enabled) this.#bullmq = await import('bullmq');
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(
      [...this.#queues.values()].map(queue => queue.close().catch(() => undefined)),
    );
  }

  ref(model: string, { id, tenant }: Pick<ScheduledRequest, 'id' | 'tenant'>): JobRef {
    return { model, jobId: this.link.keys.job(id, tenant) };
  }

  /** Where a request could be: one place per model. */
  refs(ref: RequestRef): JobRef[] {
    return this.models.map(({ id }) => this.ref(id, ref));
  }

  /**
   * Queues the job, unless one of that id is there: then nothing happens. A stop of an
   * earlier one is forgotten.
   */
  async add({ job, costMs: cost }: PlacedJob, { model, jobId }: JobRef): Promise<void> {
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
    await this.#queue(model).add(job.kind, job, options);
    await this.#quietly(this.weigh(model, job.tenant));
  }

  /** Gives new jobs their places, with the weight that the tenant has now. */
  async weigh(model: string, tenant: string | undefined): Promise<void> {
    const weight = this.keyRing?.weightOf(tenant ?? DEFAULT_TENANT) ?? 1;
    await this.#order().sort(model, { owner: this.link.keys.owner(tenant), weight });
  }

  /** What one tenant has waiting, by model. Bytes are not known in Redis. */
  async loadOf(tenant: string | undefined) {
    const [order, owner] = [this.#order(), this.link.keys.owner(tenant)];
    return Promise.all(
      this.models.map(async ({ id: model }) => ({
        model,
        ...(await order.load(model, owner)),
      })),
    );
  }

  /** The accounts of tenants, and what waits. */
  accounts(model: string): Promise<QueueAccounts> {
    return this.#order().accounts(model);
  }

  /**
   * Gives a waiting job another priority: its class, its data and its options. Its place
   * follows when arrivals are sorted. Gateways that wait for it learn of it from the event
   * stream.
   * @returns false when no such job waits. @throws when Redis does not answer.
   */
  async reprioritize(ref: JobRef, priority: PriorityLabel): Promise<boolean> {
    const isChanged = await this.#change(ref, priority);
    if (isChanged) await this.#quietly(this.#order().sort(ref.model));
    return isChanged;
  }

  async #change({ model, jobId }: JobRef, priority: PriorityLabel): Promise<boolean> {
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

  /** True: it is gone. False: a worker has it. */
  async remove({ model, jobId }: JobRef): Promise<boolean> {
    const removed = (await this.#queue(model).remove(jobId)) === 1;
    if (removed) await this.#quietly(this.#order().leave(model, jobId));
    return removed;
  }

  /**
   * Its gateway has the answer: it stays for a while only. Milliseconds of that while.
   */
  async answered({ model, jobId }: JobRef): Promise<number> {
    const { keys, answeredMs } = this.link;
    await this.#expiry().expire(keys.base(model), jobId, answeredMs, true);
    return answeredMs;
  }

  /** Removes finished jobs and events that have outlived their time, for all gateways. */
  async sweep(): Promise<void> {
    if (!this.link.usable) return;
    for (const { id } of this.models) await this.#expiry().sweep(this.link.keys.base(id));
  }

  /** In order of `refs`; undefined: there is no such job. */
  async facts(refs: readonly JobRef[]): Promise<(JobFacts | undefined)[]> {
    const pipeline = this.link.redis.pipeline();
    for (const ref of refs) {
      const key = this.#key(ref);
      // The lock first: one that ends in between belongs to a job that is finished in
      // the second reply.
      pipeline.pttl(`${key}:lock`).hmget(key, ...FACTS);
    }
    const replies = await repliesOf(pipeline);
    return refs.map((_, at) =>
      factsOf(replies[2 * at + 1] as (string | null)[], replies[2 * at] as number),
    );
  }

  /**
   * The data of a job, from any writer, so nothing is certain of it; undefined: there is
   * none, or it is no JSON.
   */
  async data(ref: JobRef): Promise<Partial<QueueJob> | undefined> {
    const data = await this.link.redis.hget(this.#key(ref), 'data');
    const value = data === null ? undefined : jsonIn(data, STORED_BOUNDS);
    return value === undefined || isObject(value) ? value : {};
  }

  /** All that waits, by model: two commands a model, for every request that comes in. */
  async waiting(): Promise<ReadonlyMap<string, number>> {
    const pipeline = this.link.redis.pipeline();
    for (const { id } of this.models) {
      const base = this.link.keys.base(id);
      pipeline.llen(`${base}wait`).zcard(`${base}prioritized`);
    }
    const counts = (await repliesOf(pipeline)) as number[];
    return new Map(
      this.models.map(({ id }, at) => [id, (counts[2 * at] ?? 0) + (counts[2 * at + 1] ?? 0)]),
    );
  }

  /** What the accounts miss now is found when the next job is taken. */
  async #quietly(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) =>
      this.#logger.debug({ err: error }, 'the order of the queue was not updated'),
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

  #queue(model: string): Queue {
    const known = this.#queues.get(model);
    if (known) return known;
    const { redis, keys } = this.link;
    const queue = new this.#bullmq!.Queue(keys.queue(model), {
      // A queue whose first command fails, while Redis hangs, would fail for ever: it
      // asks nothing before it is used.
      connection: redis,
      prefix: keys.prefix,
      skipWaitingForReady: true,
      skipVersionCheck: true,
      streams: { events: { maxLen: MAX_EVENTS } },
    });
    // The link reports its connection; what else goes wrong is answered by the call
    // that met it.
    queue.on('error', error => this.#logger.debug({ model, err: error }, 'queue'));
    this.#queues.set(model, queue);
    return queue;
  }
}

async function repliesOf(pipeline: ChainableCommander): Promise<unknown[]> {
  return ((await pipeline.exec()) ?? []).map(([error, reply]) => {
    if (error) throw redisProblem(error);
    return reply;
  });
}

function factsOf(values: readonly (string | null)[], lockLeftMs: number): JobFacts | undefined {
  const [
    priority,
    timestamp,
    workerId,
    processedOn,
    finishedOn,
    returnValue,
    failedReason,
    attempts,
  ] = values;
  if (timestamp == null) return undefined;
  return {
    priority: Number(priority ?? 0),
    timestamp: Number(timestamp),
    taken: lockLeftMs > 0 && finishedOn == null,
    attempts: Number(attempts ?? 0),
    finished: finishedOn != null,
    workerId: workerId ?? undefined,
    takenMs: processedOn == null ? undefined : Number(processedOn),
    returnValue: returnValue ?? undefined,
    failedReason: failedReason ?? undefined,
  };
}

/** The class of a job that has not aged. */
const classOf = (priority: PriorityLabel): QueueJobClass =>
  priority === 'realtime' ? QueueJobClass.REALTIME : QueueJobClass.BATCH;
