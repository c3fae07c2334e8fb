import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { DelayedError, type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import { type Logger } from 'pino';
import { type QueueJobResult, readJobResult } from '../../contracts/queue-jobs/job-result.js';
import { type JobCallback } from '../../contracts/queue-jobs/queue-job.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { HostExceptions } from '../../platform/http/host-exceptions.js';
import { loadValue } from '../../platform/storage/blob-keys.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { postWebhook, webhookSecret } from '../../platform/webhooks/webhook-post.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';
import { type PulledJob } from './taken-job.js';

/** BullMQ queue of callbacks; no model's queue can have this name. */
const CALLBACK_QUEUE = 'callbacks';

/** A callback to be sent. */
interface QueuedCallback extends JobCallback {
  /** BullMQ queue and job whose result it carries. */
  readonly queue: string;
  readonly jobId: string;
  readonly requestId: string;
  /**
   * Set with the first attempt: later attempts send the same even when the
   * result has expired.
   */
  readonly body?: string;
}

/** One per job; also the `webhook-id` by which a receiver recognises repeats. */
const callbackId = ({ queue, jobId }: Pick<QueuedCallback, 'queue' | 'jobId'>): string =>
  `${queue}.${jobId}`;

/** Callbacks that failed for good are kept for a week, at most this many. */
const KEPT = { age: 604_800, count: 1000 };

/** Timeout of one attempt. */
const ATTEMPT_MS = 15_000;
const AT_ONCE = 8;
/** BullMQ may wait for an unreachable Redis. */
const CLOSE_MS = 500;

/**
 * Callbacks wait in BullMQ, so that they survive the worker that added them. A callback
 * is added with a delay before its job is completed, and made due when the job is; if the
 * worker dies in between, the delay runs out. The result is read from the job when the
 * callback is sent, so the answer of a worker that lost the job is never sent. Any worker
 * of the shared queue sends any callback, at least once: the receiver recognises repeats
 * by `webhook-id`.
 */
@Injectable()
export class Callbacks {
  readonly #exceptions: HostExceptions;
  #queue: Queue<QueuedCallback> | undefined;
  #worker: Worker<QueuedCallback> | undefined;

  constructor(
    private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly blobs: BlobStore,
    private readonly connections: PullConnections,
    private readonly requests: RequestQueue,
  ) {
    this.#exceptions = new HostExceptions(spec.pull?.callbackAllowHosts ?? '');
  }

  /**
   * Adds the callback of a job that has one; of two workers with the same job, only the
   * first adds it.
   */
  async promise({ job, order }: PulledJob): Promise<void> {
    if (!order.callback) return;
    const note: QueuedCallback = {
      ...order.callback,
      queue: this.requests.name,
      jobId: job.id,
      requestId: order.id,
    };
    const { callbackAttempts: attempts, callbackBackoffMs: backoffMs } = this.spec.pull!;
    await this.#open().add('callback', note, {
      jobId: callbackId(note),
      delay: this.connections.sharedQueue.lockMs * 2,
      attempts,
      backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: KEPT,
    });
  }

  /**
   * Never rejects: a callback that is not made due now is sent when its delay is over.
   */
  async due({ job }: PulledJob): Promise<void> {
    try {
      const id = callbackId({ queue: this.requests.name, jobId: job.id });
      await (await this.#open().getJob(id))?.promote();
    } catch (error) {
      this.log.debug(
        { event: 'callback_later', jobId: job.id, err: error },
        'The callback is sent when its delay is over',
      );
    }
  }

  /** Begins to send those that are due. */
  start(): void {
    const { prefix, lockMs } = this.connections.sharedQueue;
    this.#worker = new Worker<QueuedCallback>(
      CALLBACK_QUEUE,
      (job, token) => this.#send(job, token),
      {
        connection: this.connections.for('callbacks'),
        prefix,
        concurrency: AT_ONCE,
        lockDuration: Math.max(lockMs, 2 * ATTEMPT_MS),
        maxStalledCount: Number.MAX_SAFE_INTEGER,
      },
    );
    this.#worker.on('error', error =>
      this.log.debug({ event: 'callbacks_wait', err: error }, 'Callbacks wait for Redis'),
    );
    this.#worker.on('failed', (job, error) => this.#failed(job, error));
  }

  /** An interrupted attempt is repeated by another worker. */
  async close(): Promise<void> {
    const closing = this.#worker?.close(true).catch(() => undefined);
    await Promise.race([closing, sleep(CLOSE_MS)]);
  }

  #open(): Queue<QueuedCallback> {
    return (this.#queue ??= new Queue<QueuedCallback>(CALLBACK_QUEUE, {
      connection: this.connections.for('work'),
      prefix: this.connections.sharedQueue.prefix,
      // One whose first command fails would fail for ever.
      skipVersionCheck: true,
    }));
  }

  async #send(job: Job<QueuedCallback>, token: string | undefined): Promise<void> {
    const body = job.data.body ?? (await this.#body(job, token));
    // A receiver that is down for a day still gets a result that has long expired.
    if (job.data.body === undefined) await job.updateData({ ...job.data, body });
    const status = await this.#post(job.data, body);
    if (status === 410)
      throw new UnrecoverableError('the receiver refuses further callbacks (410)');
    if (status < 200 || status > 299) throw new Error(`status ${status}`);
    this.log.info(
      { event: 'callback_sent', jobId: job.data.jobId, attempt: job.attemptsMade + 1 },
      'Callback sent',
    );
  }

  /**
   * As OpenAI's webhook events. @throws DelayedError while the job is not finished;
   *   UnrecoverableError when the job is gone
   */
  async #body(job: Job<QueuedCallback>, token: string | undefined): Promise<string> {
    const { prefix, lockMs } = this.connections.sharedQueue;
    const { queue, jobId, requestId: id } = job.data;
    const connection = this.connections.for('callbacks');
    const request = await new Queue(queue, { connection, prefix }).getJob(jobId);
    if (!request) throw new UnrecoverableError('its job and result are gone');
    if (request.finishedOn === undefined) {
      await job.moveToDelayed(Date.now() + lockMs * 2, token);
      throw new DelayedError();
    }
    const result = readJobResult(request.returnvalue);
    const content = await this.#content(result, request.failedReason);
    return writeJson({
      id: callbackId(job.data),
      object: 'event',
      type: `request.${result?.outcome ?? 'failed'}`,
      created_at: Math.floor(request.finishedOn / 1000),
      data: { id, queue, job_id: jobId, ...content },
    });
  }

  /**
   * @param failedReason BullMQ's own, where no worker gave a result. @throws
   *   UnrecoverableError when the blob of its value has expired
   */
  async #content(result: QueueJobResult | undefined, failedReason: string): Promise<object> {
    if (!result) return { error: { code: 'worker_lost', message: failedReason } };
    if (result.outcome === 'failed') return { error: result.error };
    if (result.outcome === 'cancelled') return {};
    const { value, execution } = result;
    try {
      return { value: await loadValue(this.blobs, value), execution };
    } catch (error) {
      throw error instanceof BlobMissing ? new UnrecoverableError('its result has expired') : error;
    }
  }

  async #post(note: QueuedCallback, body: string): Promise<number> {
    const secret = this.#secret(note);
    const signal = AbortSignal.timeout(ATTEMPT_MS);
    try {
      return await postWebhook({
        url: note.url,
        id: callbackId(note),
        body,
        secret,
        exceptions: this.#exceptions,
        signal,
      });
    } catch (error) {
      const refused = error instanceof DomainError && error.code === 'file_url_refused';
      throw refused ? new UnrecoverableError('its address is not allowed') : error;
    }
  }

  /**
   * Read for each callback, since secrets change while workers run. @throws ConfigError
   * without its secret
   */
  #secret({ secretName }: QueuedCallback): Buffer | undefined {
    if (secretName === undefined) return undefined;
    return webhookSecret(join(this.spec.pull!.callbackSecretsDir, secretName));
  }

  #failed(job: Job<QueuedCallback> | undefined, { message }: Error): void {
    if (!job) return;
    const { jobId } = job.data;
    const fields = { jobId, attempts: job.attemptsMade, reason: message };
    if (job.finishedOn === undefined)
      this.log.warn({ event: 'callback_failed', ...fields }, 'Callback failed; it is sent again');
    else this.log.error({ event: 'callback_given_up', ...fields }, `Callback given up: ${message}`);
  }
}
