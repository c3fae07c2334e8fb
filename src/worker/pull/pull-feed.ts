import { Inject, Injectable } from '@nestjs/common';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type QueueJob, readQueueJob } from '@switchyard/shared-queue/job.codec.js';
import { type DeadLetter } from '@switchyard/shared-queue/messages.codec.js';
import { LockKeeper } from '@switchyard/shared-queue/worker/lock-keeper.js';
import {
  JobLost,
  RequestQueue,
  retryUntilAborted,
  type Stray,
} from '@switchyard/shared-queue/worker/request-queue.js';
import { type PulledJob, type TakenJob } from '@switchyard/shared-queue/worker/taken-job.js';
import { type Redis } from 'ioredis';
import { type Logger } from 'pino';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullConnections } from './pull-connections.js';

/** How late Redis may end a wait before the connection counts as dead. */
const OVERDUE_MS = 2000;

/** Dead letters that are kept of one model. */
const DEAD_LETTERS_KEPT = 1000;
/** Bytes kept of each dead letter; all of a model stay below 90 MB. */
const DEAD_LETTER_BYTES = 65_536;

/** Bytes of a dead letter that are logged. */
const SHOWN = 200;

/**
 * A process that is silent for the time limit of a job and this hangs, and another worker
 * should have the job.
 */
const LEEWAY_MS = 30_000;

/**
 * Jobs of the model's queue, one at a time, locked and parsed; one that cannot be read
 * becomes a dead letter. It waits by `BZPOPMIN` on BullMQ's marker key, on a connection of
 * its own, so that nothing is polled. Redis checks its timeouts ten times a second, so
 * short waits and abandoned ones are ended by `CLIENT UNBLOCK`. After an arrival it must
 * take from the queue: the marker is gone, and taking a job restores it.
 */
@Injectable()
export class PullFeed {
  readonly #blocked: Redis;
  readonly #control: Redis;
  #clientId: number | undefined;
  #isWaiting = false;
  #closed = false;
  /** Dead letters being stored; a shutdown waits for them. */
  readonly #burials = new Set<Promise<void>>();

  constructor(
    private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly locks: LockKeeper,
    private readonly queue: RequestQueue,
    private readonly connections: PullConnections,
  ) {
    this.#control = connections.for('work');
    this.#blocked = connections.for('wait');
    this.#blocked.on('ready', () => void this.#readClientId());
    this.#blocked.on('close', () => (this.#clientId = undefined));
    if (this.#blocked.status === 'ready') void this.#readClientId();
  }

  /** @throws when the connection broke */
  async next(waitMs: number): Promise<PulledJob | undefined> {
    const endMs = performance.now() + waitMs;
    for (;;) {
      const found = await this.#take();
      const leftMs = endMs - performance.now();
      if (found !== undefined || leftMs <= 0 || this.#closed) return found;
      // Another worker may have taken the job: wait on.
      if (!(await this.#arrivalWithin(leftMs))) return undefined;
    }
  }

  /** The current wait ends as if no job had come. */
  interrupt(): void {
    if (!this.#isWaiting || this.#clientId === undefined) return;
    this.#control
      .call('CLIENT', 'UNBLOCK', String(this.#clientId), 'TIMEOUT')
      .catch(() => undefined);
  }

  /** No more jobs; the current wait ends. */
  close(): void {
    this.#closed = true;
    this.interrupt();
  }

  /**
   * Also for jobs that BullMQ itself could not return, because it cannot read their
   * options.
   */
  putAside(
    job: Stray,
    reason: string,
    signal = new AbortController().signal,
    lock?: Disposable,
  ): void {
    const failed = (error: Error): void =>
      this.log.warn(
        { event: 'burial_failed', jobId: job.id, err: error },
        'A dead letter could not be stored; trying again',
      );
    const burial = retryUntilAborted(() => this.#bury(job, reason), {
      signal,
      failed,
    })
      .catch(() => undefined)
      .finally(() => {
        lock?.[Symbol.dispose]();
        this.#burials.delete(burial);
      });
    this.#burials.add(burial);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#burials);
  }

  /** True when a job arrived. @throws when the connection broke */
  async #arrivalWithin(waitMs: number): Promise<boolean> {
    this.#isWaiting = true;
    const short = setTimeout(() => this.interrupt(), waitMs);
    // A connection that broke silently would wait for ever.
    const overdue = setTimeout(() => this.#blocked.disconnect(true), waitMs + OVERDUE_MS);
    try {
      const seconds = Math.max(0.001, waitMs / 1000);
      const arrived = await this.#blocked.bzpopmin(this.queue.marker, seconds);
      return arrived !== null;
    } finally {
      this.#isWaiting = false;
      clearTimeout(short);
      clearTimeout(overdue);
    }
  }

  async #readClientId(): Promise<void> {
    this.#clientId = await this.#blocked.client('ID').catch(() => undefined);
  }

  /** The next job that can be read; others become dead letters. */
  async #take(): Promise<PulledJob | undefined> {
    while (!this.#closed) {
      const job = await this.queue.take();
      if (job === undefined) return undefined;
      const pulled = this.#open(job);
      if (pulled) return pulled;
      this.log.trace({ event: 'dead_letter_taken', jobId: job.id }, 'A job that cannot be read');
    }
    return undefined;
  }

  /** Undefined if the job cannot be read: it becomes a dead letter in the background. */
  #open(job: TakenJob): PulledJob | undefined {
    const gone = new AbortController();
    const order = this.#read(job);
    const silentMs = order instanceof Error ? LEEWAY_MS : order.timeoutMs + LEEWAY_MS;
    const lock = this.locks.hold(job, silentMs, () => gone.abort(new JobLost('its lock is lost')));
    if (!(order instanceof Error)) return { job, order, gone, lock };
    this.putAside(job, order.message, gone.signal, lock);
    return undefined;
  }

  #read({ id, data, timestamp }: TakenJob): QueueJob | Error {
    try {
      return readQueueJob(parseBoundedJson(data, STORED_BOUNDS), {
        jobId: id,
        timestamp,
        model: this.spec.model.id,
      });
    } catch (error) {
      return error instanceof SyntaxError
        ? new Error(`data is not JSON: ${error.message}`)
        : (error as Error);
    }
  }

  /**
   * Stored with the reason and its bytes, then failed in BullMQ: a crash in between
   * leaves two letters, never none. @throws JobLost
   */
  async #bury(job: Stray, reason: string): Promise<void> {
    const [raw, bytes] = await this.queue.beginning(job.id, DEAD_LETTER_BYTES);
    const letter: DeadLetter = {
      v: 1,
      jobId: job.id,
      queue: this.queue.name,
      reason,
      raw: raw.toString('base64'),
      bytes,
      workerId: this.spec.workerId,
      atMs: this.connections.clock.nowMs(),
    };
    const list = this.connections.keys.dead(this.spec.model.id);
    await this.#control
      .multi()
      .lpush(list, writeJson(letter))
      .ltrim(list, 0, DEAD_LETTERS_KEPT - 1)
      .exec();
    await this.queue.fail(job, `dead letter: ${reason}`);
    const shown = raw.toString('utf8', 0, SHOWN);
    this.log.error(
      { event: 'dead_letter', jobId: job.id, reason, bytes, shown },
      `Dead letter: ${reason}`,
    );
  }
}
