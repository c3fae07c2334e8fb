import { type Backoff, backoffMs } from '@switchyard/engine-api/backoff.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import {
  createRedisBackend,
  type JobJson,
  type KeepJobs,
  type MinimalJob,
  type RedisQueueBackend,
  type WorkerOptions,
} from 'bullmq';
import { exhaustMap, interval, Subscription } from 'rxjs';
import { HEARTBEAT_MS } from '../heartbeat.js';
import { type QueueLog } from '../log.js';
import { RedisOrder } from '../order/redis-order.js';
import { ResultExpiry, sweepEveryMs } from '../result-expiry.js';
import { type QueueJobResult } from '../result.codec.js';
import { type TakenJob } from './taken-job.js';
import { type WorkerLink } from './worker-link.js';

/**
 * Field of BullMQ's hash of a job for what workers note with it, so that it is removed with
 * the job.
 */
const NOTED = 'device';

/** Of existing jobs only: a note must not recreate the key of a finished job. */
const NOTE = `
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('HSET', KEYS[i], ARGV[1], ARGV[i + 1]) end
end`;

const READ = `
local data = redis.call('HGET', KEYS[1], 'data') or ''
return { string.sub(data, 1, tonumber(ARGV[1])), #data }`;

/** Another worker has the job or has finished it: anything sent about it is ignored. */
export class JobLost extends Error {}

const LOST = /^(Missing key|Missing lock|Lock mismatch)|is not in the active state/;

const RETRY_PAUSES: Backoff = { firstMs: 100, longestMs: 5000 };

/**
 * Retries until it succeeds.
 * @param options `signal` ends the retries; `failed` is called for every failure, with its
 *   number from 1
 * @throws JobLost at once; the signal's reason
 */
export async function retryUntilAborted<T>(
  work: (attempt: number) => Promise<T>,
  {
    signal,
    failed,
  }: {
    readonly signal: AbortSignal;
    readonly failed?: (error: Error, attempt: number) => void;
  },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      if (error instanceof JobLost) throw error;
      failed?.(error as Error, attempt);
      await pause(backoffMs(attempt, RETRY_PAUSES), signal);
    }
  }
}

export type Stray = Pick<TakenJob, 'id' | 'token'>;

/**
 * BullMQ's commands for one queue, without its loop: take, complete, fail, return. Each
 * is atomic in Redis.
 */
export class RequestQueue {
  readonly name: string;
  readonly #order: RedisOrder;
  readonly #expiry: ResultExpiry;
  readonly #tasks = new Subscription();
  #backend: RedisQueueBackend | undefined;
  #takes = 0;

  /** @param workerId name of the worker in logs and results */
  constructor(
    private readonly link: WorkerLink,
    private readonly model: string,
    readonly workerId: string,
    private readonly log: QueueLog,
  ) {
    const { keys, sharedQueue } = link;
    const redis = link.for('work');
    this.name = keys.queue(model);
    this.#order = new RedisOrder({ redis, keys, ...sharedQueue });
    this.#expiry = new ResultExpiry(redis, sharedQueue.resultTtlMs);
  }

  /** Epoch milliseconds of Redis. */
  nowMs(): number {
    return this.link.clock.nowMs();
  }

  /** Redis key of a part of this queue, or of a job. */
  key(part: string): string {
    return `${this.link.keys.base(this.model)}${part}`;
  }

  /**
   * Begins what any worker of a queue does for all: it takes over jobs of dead workers,
   * and removes finished jobs and events that have outlived their time.
   */
  start(): void {
    const { resultTtlMs } = this.link.sharedQueue;
    this.#every(this.#sweepMs, () => this.#takeOver());
    this.#every(sweepEveryMs(resultTtlMs), () => this.#expiry.sweep(this.key('')));
    this.log.info({ event: 'pull_started', queue: this.name }, `Pulling from ${this.name}`);
  }

  stop(): void {
    this.#tasks.unsubscribe();
  }

  /**
   * The job whose turn it is (D-25), locked; undefined if none waits.
   * @throws SyntaxError for one that BullMQ cannot read: it is locked
   *   nevertheless (`strays`)
   */
  async take(): Promise<TakenJob | undefined> {
    const token = `${this.link.owner}:${this.#takes++}`;
    const backend = await this.#ready();
    await this.#accounted(this.#order.release(this.model));
    const [json, id] = (await backend.moveToActive(token, this.workerId)) as [JobJson?, string?];
    if (!json) return undefined;
    const priority = json.priority || 0;
    return { ...json, id: String(id), token, priority, takenMs: this.nowMs() };
  }

  /** @param deviceMs what its tenant is charged; undefined: the estimate. @throws JobLost */
  async complete(job: TakenJob, result: QueueJobResult, deviceMs?: number): Promise<void> {
    const backend = await this.#ready();
    const kept = this.#kept(job.opts.removeOnComplete);
    if (deviceMs !== undefined)
      await this.#accounted(this.#order.settle(this.model, job.id, deviceMs));
    const args = backend.moveToCompletedArgs(
      minimal(job),
      writeJson(result),
      kept,
      job.token,
      false,
    );
    try {
      await this.#finish(backend, job.id, args);
    } catch (error) {
      if (!(error instanceof JobLost) || !(await this.#hasResult(job, result))) throw error;
    }
    await this.#expire(job.id, kept, result);
  }

  /** An earlier attempt was executed, and its confirmation was lost with the connection. */
  async #hasResult({ id }: Stray, result: QueueJobResult): Promise<boolean> {
    const json = await this.link.for('work').hget(this.key(id), 'returnvalue');
    return json === writeJson(result);
  }

  /** Fails the job in BullMQ, for jobs without a result. @throws JobLost */
  async fail(job: Stray & Partial<Pick<TakenJob, 'opts'>>, reason: string): Promise<void> {
    const backend = await this.#ready();
    const kept = this.#kept(job.opts?.removeOnFail);
    await this.#finish(
      backend,
      job.id,
      backend.moveToFailedArgs(minimal(job), reason, kept, job.token, false),
    );
  }

  /** At the time of Redis, by which finished jobs are removed; BullMQ takes that of this process. */
  async #finish(
    backend: RedisQueueBackend,
    jobId: string,
    args: Parameters<RedisQueueBackend['moveToFinished']>[1],
  ): Promise<void> {
    args[backend.moveToFinishedKeys.length + 1] = this.nowMs();
    await orLost(backend.moveToFinished(jobId, args));
  }

  /** Whether the tenant is a suspect (D-51). */
  async suspects(tenant: string | undefined): Promise<boolean> {
    const key = this.link.keys.suspect(this.model, tenant);
    return (await this.link.for('work').exists(key)) === 1;
  }

  /** The text that was noted with a job; null: none. */
  noted(jobId: string): Promise<string | null> {
    return this.link.for('work').hget(this.key(jobId), NOTED);
  }

  /** Notes a text with each job that exists. */
  async note(texts: readonly (readonly [jobId: string, text: string])[]): Promise<void> {
    const keys = texts.map(([jobId]) => this.key(jobId));
    const rest = [NOTED, ...texts.map(([, text]) => text)];
    await this.link.for('work').eval(NOTE, keys.length, ...keys, ...rest);
  }

  /** The beginning of a job's data, and its length: unreadable data may have any size. */
  beginning(jobId: string, bytes: number): Promise<[beginning: Buffer, length: number]> {
    const reply = this.link.for('work').callBuffer('eval', READ, 1, this.key(jobId), bytes);
    return reply as Promise<[Buffer, number]>;
  }

  /** Where BullMQ leaves a mark while something waits: who waits for work blocks on it. */
  get marker(): string {
    return this.key('marker');
  }

  /** To the front of its class, for any worker; no attempt is counted. @throws JobLost */
  async giveBack({ id, token }: Stray): Promise<void> {
    const backend = await this.#ready();
    await orLost(backend.moveJobFromActiveToWait(id, token));
  }

  /**
   * Jobs that this process has locked unknowingly: the reply was lost with the
   * connection, or could not be read.
   */
  async strays(known: ReadonlySet<string>): Promise<readonly Stray[]> {
    const redis = this.link.for('work');
    const ids = (await redis.lrange(this.key('active'), 0, -1)).filter(id => !known.has(id));
    if (ids.length === 0) return [];
    const tokens = await redis.mget(ids.map(id => this.key(`${id}:lock`)));
    const own = (token: string | null | undefined): token is string =>
      token?.startsWith(`${this.link.owner}:`) === true;
    return ids.flatMap((id, index) => {
      const token = tokens[index];
      return own(token) ? [{ id, token }] : [];
    });
  }

  /** BullMQ removes old jobs only when others end. What fails here is done by `sweep`. */
  async #expire(
    jobId: string,
    kept: boolean | number | KeepJobs,
    { outcome }: QueueJobResult,
  ): Promise<void> {
    if (typeof kept !== 'object' || !('age' in kept)) return;
    const expiry = this.#expiry;
    // The gateway that stopped it has answered the caller.
    const ms = outcome === 'cancelled' ? expiry.stoppedMs : kept.age * 1000;
    await expiry.expire(this.key(''), jobId, ms).catch(() => undefined);
  }

  /** An update of the accounts. If it fails, the queue continues by class and time. */
  async #accounted(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) =>
      this.log.debug({ event: 'order_failed', err: error }, 'No accounts'),
    );
  }

  /** One run at a time, so none pile up while Redis is unreachable. */
  #every(ms: number, work: () => Promise<unknown>): void {
    const careful = (): Promise<unknown> =>
      work().catch((error: unknown) =>
        this.log.debug({ event: 'housekeeping_failed', err: error }, 'Housekeeping failed'),
      );
    this.#tasks.add(interval(ms).pipe(exhaustMap(careful)).subscribe());
  }

  async #takeOver(): Promise<void> {
    const jobIds = await (await this.#ready()).moveStalledJobsToWait();
    if (jobIds.length === 0) return;
    this.log.warn(
      { event: 'jobs_taken_over', jobIds },
      `${jobIds.length} jobs of a dead or unresponsive worker are queued again`,
    );
  }

  /**
   * Milliseconds between sweeps: jobs are taken over soon after their lock expires or is
   * released.
   */
  get #sweepMs(): number {
    return Math.min(HEARTBEAT_MS, Math.max(50, this.link.sharedQueue.lockMs / 10));
  }

  /** How long the finished job stays: as its client set, else as the shared queue does. */
  #kept(setting: MinimalJob['opts']['removeOnComplete']): boolean | number | KeepJobs {
    return setting ?? { age: Math.ceil(this.link.sharedQueue.resultTtlMs / 1000) };
  }

  /**
   * A connection that broke during BullMQ's handshake leaves a backend that never works;
   * it is replaced.
   */
  async #ready(): Promise<RedisQueueBackend> {
    const backend = (this.#backend ??= this.#create());
    try {
      await backend.waitUntilReady();
      return backend;
    } catch (error) {
      if (this.#backend === backend) this.#backend = undefined;
      throw error;
    }
  }

  #create(): RedisQueueBackend {
    const { lockMs } = this.link.sharedQueue;
    const rules: WorkerOptions = {
      connection: this.link.for('work'),
      prefix: this.link.keys.prefix,
      lockDuration: lockMs,
      stalledInterval: this.#sweepMs,
      name: this.workerId,
      // Its caller decides how often a job may crash.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    };
    const backend = createRedisBackend(this.name, rules);
    // Whoever made the connection logs it.
    backend.on('error', () => undefined);
    return backend;
  }
}

/** The fields that BullMQ reads of a job that it finishes. */
const minimal = ({ id, opts = {} }: { id: string; opts?: MinimalJob['opts'] }): MinimalJob =>
  ({ id, opts }) as MinimalJob;

async function orLost(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (LOST.test((error as Error).message))
      throw new JobLost((error as Error).message, { cause: error });
    throw error;
  }
}
