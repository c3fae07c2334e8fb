import { Inject, Injectable } from '@nestjs/common';
import { type Backoff, backoffMs } from '@switchyard/engine-api/backoff.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  createRedisBackend,
  type JobJson,
  type KeepJobs,
  type MinimalJob,
  type RedisQueueBackend,
  type WorkerOptions,
} from 'bullmq';
import { type Logger } from 'pino';
import { exhaustMap, interval, Subscription } from 'rxjs';
import { deviceShareMs } from '../../contracts/grpc/call.codec.js';
import { HEARTBEAT_MS } from '../../contracts/queue-jobs/heartbeat.js';
import { type QueueJobResult } from '../../contracts/queue-jobs/job-result.js';
import { pause } from '../../platform/clock/pause.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { RedisOrder } from '../../platform/redis/redis-order.js';
import { ResultExpiry, sweepEveryMs } from '../../platform/redis/result-expiry.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullConnections } from './pull-connections.js';
import { type TakenJob } from './taken-job.js';

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
@Injectable()
export class RequestQueue {
  readonly name: string;
  readonly #order: RedisOrder;
  readonly #expiry: ResultExpiry;
  readonly #tasks = new Subscription();
  #backend: RedisQueueBackend | undefined;
  #takes = 0;

  constructor(
    private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly connections: PullConnections,
  ) {
    const { keys, sharedQueue } = connections;
    const redis = connections.for('work');
    this.name = keys.queue(spec.model.id);
    this.#order = new RedisOrder({ redis, keys, ...sharedQueue });
    this.#expiry = new ResultExpiry(redis, sharedQueue.resultTtlMs);
  }

  /** Redis key of a part of this queue, or of a job. */
  key(part: string): string {
    return `${this.connections.keys.base(this.spec.model.id)}${part}`;
  }

  /**
   * Begins what any worker of a queue does for all: it takes over jobs of dead workers,
   * and removes finished jobs and events that have outlived their time.
   */
  start(): void {
    const { resultTtlMs } = this.connections.sharedQueue;
    this.#every(this.#sweepMs, () => this.#takeOver());
    this.#every(sweepEveryMs(resultTtlMs), () => this.#expiry.sweep(this.key('')));
    this.log.info({ event: 'pull_started', queue: this.name }, `Pulling from ${this.name}`);
  }

  stop(): void {
    this.#tasks.unsubscribe();
  }

  /** Ends all connections to Redis. */
  close(): void {
    this.connections.close();
  }

  /**
   * The job whose turn it is (D-25), locked; undefined if none waits.
   * @throws SyntaxError for one that BullMQ cannot read: it is locked
   *   nevertheless (`strays`)
   */
  async take(): Promise<TakenJob | undefined> {
    const token = `${this.connections.owner}:${this.#takes++}`;
    const backend = await this.#ready();
    await this.#accounted(this.#order.release(this.spec.model.id));
    const [json, id] = (await backend.moveToActive(token, this.spec.workerId)) as [
      JobJson?,
      string?,
    ];
    if (!json) return undefined;
    const priority = json.priority || 0;
    return { ...json, id: String(id), token, priority, takenMs: Date.now() };
  }

  /** @throws JobLost */
  async complete(job: TakenJob, result: QueueJobResult): Promise<void> {
    const backend = await this.#ready();
    const kept = this.#kept(job.opts.removeOnComplete);
    const deviceMs = result.outcome === 'completed' ? deviceShareMs(result.execution) : undefined;
    if (deviceMs !== undefined)
      await this.#accounted(this.#order.settle(this.spec.model.id, job.id, deviceMs));
    try {
      await orLost(backend.moveToCompleted(minimal(job), result, kept, job.token, false));
    } catch (error) {
      if (!(error instanceof JobLost) || !(await this.#hasResult(job, result))) throw error;
    }
    await this.#expire(job.id, kept, result);
  }

  /** An earlier attempt was executed, and its confirmation was lost with the connection. */
  async #hasResult({ id }: Stray, result: QueueJobResult): Promise<boolean> {
    const json = await this.connections.for('work').hget(this.key(id), 'returnvalue');
    return json === writeJson(result);
  }

  /** Fails the job in BullMQ, for jobs without a result. @throws JobLost */
  async fail(job: Stray & Partial<Pick<TakenJob, 'opts'>>, reason: string): Promise<void> {
    const backend = await this.#ready();
    await orLost(
      backend.moveToFailed(
        minimal(job),
        reason,
        this.#kept(job.opts?.removeOnFail),
        job.token,
        false,
      ),
    );
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
    const redis = this.connections.for('work');
    const ids = (await redis.lrange(this.key('active'), 0, -1)).filter(id => !known.has(id));
    if (ids.length === 0) return [];
    const tokens = await redis.mget(ids.map(id => this.key(`${id}:lock`)));
    const own = (token: string | null | undefined): token is string =>
      token?.startsWith(`${this.connections.owner}:`) === true;
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

  /** Without its order the queue goes on by class and time. */
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

  /** They are taken over soon after their lock expires or is freed. */
  get #sweepMs(): number {
    return Math.min(HEARTBEAT_MS, Math.max(50, this.connections.sharedQueue.lockMs / 10));
  }

  /** The client's own setting for its job, else the shared queue's retention. */
  #kept(setting: MinimalJob['opts']['removeOnComplete']): boolean | number | KeepJobs {
    return setting ?? { age: Math.ceil(this.connections.sharedQueue.resultTtlMs / 1000) };
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
    const { prefix, lockMs } = this.connections.sharedQueue;
    const rules: WorkerOptions = {
      connection: this.connections.for('work'),
      prefix,
      lockDuration: lockMs,
      stalledInterval: this.#sweepMs,
      name: this.spec.workerId,
      // `CrashMarkers` decide how often a job may crash.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    };
    const backend = createRedisBackend(this.name, rules);
    // `PullConnections` logs the connection.
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
