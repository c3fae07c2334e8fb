import { type JobRef, ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { type QueueJob } from '@switchyard/shared-queue/job.codec.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { RedisClock } from '@switchyard/shared-queue/redis-clock.js';
import { RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type TakenJob } from '@switchyard/shared-queue/worker/taken-job.js';
import { type Redis } from 'ioredis';
import { pino } from 'pino';
import { PriorityQueue } from '../../../src/core/queue/priority-queue.js';
import { priorityLabel, RequestPriority } from '../../../src/core/request/request-priority.js';
import { type ScheduledRequest } from '../../../src/core/request/scheduled-request.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { aRequest } from '../../support/requests.js';
import { type Driver } from './queue-harness.js';

const MODEL = 'm';
const AGING = { agingMs: 30_000, agingShare: 0.25 };

export interface Arrival {
  readonly tenant: string;
  /** Device milliseconds, as the door estimates them. */
  readonly estimateMs?: number;
  readonly realtime?: boolean;
  /** It waits for 30 s already. */
  readonly aged?: boolean;
}

/**
 * What waits for one model: requests arrive, are taken one by one, and are measured
 * when they end.
 */
export interface FairLine {
  /** @returns its id */
  arrive(arrival: Arrival): Promise<string>;
  take(): Promise<string | undefined>;
  end(id: string, deviceMs: number): Promise<void>;
  /** Input of the tenant has ended an engine. */
  suspect(tenant: string): Promise<void>;
}

export type Weights = Readonly<Record<string, number>>;

/** The queues of one driver; those in Redis share a server. */
export interface FairLines extends AsyncDisposable {
  open(weights?: Weights): FairLine;
}

export const fairLines = async (driver: Driver): Promise<FairLines> =>
  driver === 'embedded' ? embeddedLines : new RedisLines(await RedisServer.start());

const embeddedLines: FairLines = {
  open: weights => new EmbeddedLine(weights),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** No two are of the same age: of equal start tags the older one goes first. */
const sinceMs = (nowMs: number, nth: number, { aged = false }: Arrival) =>
  nowMs - (aged ? 2 * AGING.agingMs : AGING.agingMs / 2) + nth;

const priorityOf = ({ realtime = false }: Arrival): RequestPriority =>
  realtime ? RequestPriority.REALTIME : RequestPriority.BATCH;

class EmbeddedLine implements FairLine {
  readonly #queue: PriorityQueue;
  readonly #taken = new Map<string, ScheduledRequest>();
  #made = 0;

  constructor(weights: Weights = {}) {
    this.#queue = new PriorityQueue({ ...AGING, weightOf: tenant => weights[tenant] ?? 1 });
  }

  arrive(arrival: Arrival): Promise<string> {
    const id = `r${(this.#made += 1)}`;
    const { tenant, estimateMs: costMs = 10 } = arrival;
    const enqueuedAtMs = sinceMs(0, this.#made, arrival);
    this.#queue.enqueue(
      aRequest(id, {
        tenant,
        costMs,
        priority: priorityOf(arrival),
        enqueuedAtMs,
        model: MODEL,
      }),
    );
    return Promise.resolve(id);
  }

  take(): Promise<string | undefined> {
    const request = this.#queue.pick(0, lane => this.#queue.take(lane, 1, 0)[0]);
    if (request) this.#taken.set(request.id, request);
    return Promise.resolve(request?.id);
  }

  end(id: string, deviceMs: number): Promise<void> {
    this.#queue.measured(this.#taken.get(id)!, deviceMs);
    return Promise.resolve();
  }

  suspect(tenant: string): Promise<void> {
    this.#queue.suspect(MODEL, tenant);
    return Promise.resolve();
  }
}

class RedisLines implements FairLines {
  /** Of each of two gateways and two workers. */
  readonly #clients: readonly Redis[];
  #opened = 0;

  constructor(private readonly server: RedisServer) {
    this.#clients = Array.from({ length: 4 }, () => redisClient(server.url));
  }

  open(weights: Weights = {}): FairLine {
    return new RedisLine(this.#clients, `line${(this.#opened += 1)}`, weights);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    await this.server[Symbol.asyncDispose]();
  }
}

/** What gateways and pull workers do with Redis, of two each, in turn. */
class RedisLine implements FairLine {
  readonly #gateways: readonly Promise<ModelQueues>[];
  readonly #workers: readonly RequestQueue[];
  readonly #taken = new Map<string, { readonly job: TakenJob; readonly by: RequestQueue }>();
  readonly #startMs = Date.now();
  #made = 0;
  #takes = 0;

  constructor([a, b, c, d]: readonly Redis[], prefix: string, weights: Weights) {
    this.#gateways = [a!, b!].map(redis => gateway(redis, prefix, weights));
    this.#workers = [c!, d!].map(redis => worker(redis, prefix));
  }

  async arrive(arrival: Arrival): Promise<string> {
    const id = `r${(this.#made += 1)}`;
    const queues = await this.#gateways[this.#made % 2]!;
    const ref = queues.ref(MODEL, { id, tenant: arrival.tenant });
    const job = jobOf(ref, id, arrival, sinceMs(this.#startMs, this.#made, arrival));
    await queues.add({ job, costMs: arrival.estimateMs ?? 10 }, ref);
    return id;
  }

  async take(): Promise<string | undefined> {
    const by = this.#workers[(this.#takes += 1) % 2]!;
    const job = await by.take();
    if (!job) return undefined;
    const { id } = JSON.parse(job.data) as QueueJob;
    this.#taken.set(id, { job, by });
    return id;
  }

  async end(id: string, deviceMs: number): Promise<void> {
    const { job, by } = this.#taken.get(id)!;
    const phases = {
      workerId: 'w',
      takenMs: job.takenMs,
      batchWaitMs: 0,
      totalMs: 1,
      attempts: 1,
    };
    const execution = { prepMs: 0, readyWaitMs: 0, deviceMs, batchSize: 1, batchId: id };
    const value = { kind: 'embeddings', vectors: '', dimensions: 0 } as const;
    await by.complete(job, { v: 1, outcome: 'completed', value, execution, phases }, deviceMs);
  }

  async suspect(tenant: string): Promise<void> {
    await (await this.#gateways[0]!).suspect(MODEL, tenant, 600_000);
  }
}

const jobOf = (_ref: JobRef, id: string, arrival: Arrival, acceptedMs: number): QueueJob => ({
  v: 1,
  id,
  model: MODEL,
  tenant: arrival.tenant,
  priority: priorityLabel(priorityOf(arrival)),
  acceptedMs,
  timeoutMs: 60_000,
  kind: 'speech',
  options: { text: id, voice: 'v', speed: 1, format: 'wav' },
});

const LOG = pino({ level: 'silent' });
const RULES = { ...AGING, lockMs: 30_000, resultTtlMs: 60_000 };

const gateway = (redis: Redis, prefix: string, weights: Weights): Promise<ModelQueues> =>
  ModelQueues.open(
    {
      ...{ enabled: true, redis, keys: new QueueKeys(prefix), clock: new RedisClock() },
      ...{
        answeredMs: 10_000,
        access: RULES,
        listener: () => redis,
        failure: error => error as Error,
      },
    },
    { models: () => [], weightOf: (tenant = '') => weights[tenant] ?? 1, log: LOG },
  );

const worker = (redis: Redis, prefix: string): RequestQueue =>
  new RequestQueue(
    {
      ...{ for: () => redis, keys: new QueueKeys(prefix), clock: new RedisClock(), owner: 'o' },
      ...{ announcedId: 'w', sharedQueue: { server: {}, ...RULES } },
    },
    MODEL,
    'w',
    LOG,
  );
