import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { DelayedError, type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import { type Logger } from 'pino';
import {
  type LoadedResult,
  type QueueJobResult,
  readJobResult,
} from '../../contracts/queue-jobs/job-result.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { HostExceptions } from '../../platform/http/host-exceptions.js';
import { loadValue } from '../../platform/storage/blob-keys.js';
import { postWebhook, WebhookSignature } from '../../platform/webhooks/webhook-post.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { sharedQueueOf, PullConnections } from './pull-connections.js';
import {
  CALLBACK_QUEUE,
  callbackBody,
  callbackId,
  type QueuedCallback,
} from './callback-outbox.js';

/** Timeout of one attempt. */
const ATTEMPT_MS = 15_000;
const AT_ONCE = 8;
/** BullMQ may wait for an unreachable Redis. */
const CLOSE_MS = 500;

/**
 * Sends callbacks in the background, at least once each: the receiver recognises repeats
 * by `webhook-id`. Any worker of the shared queue sends any callback.
 */
@Injectable()
export class CallbackSender {
  readonly #exceptions: HostExceptions;
  #worker: Worker<QueuedCallback> | undefined;

  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    @Inject(BLOB_STORE) private readonly blobs: BlobStore,
    private readonly connections: PullConnections,
  ) {
    this.#exceptions = new HostExceptions(spec.pull?.callbacks.allowHosts ?? '');
  }

  start(): void {
    const { prefix, lockMs } = sharedQueueOf(this.spec);
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
   * @throws DelayedError while the job is not finished; UnrecoverableError when the
   *   job is gone
   */
  async #body(job: Job<QueuedCallback>, token: string | undefined): Promise<string> {
    const { prefix, lockMs } = sharedQueueOf(this.spec);
    const requests = new Queue(job.data.queue, {
      connection: this.connections.for('callbacks'),
      prefix,
    });
    const request = await requests.getJob(job.data.jobId);
    if (!request) throw new UnrecoverableError('its job and result are gone');
    if (request.finishedOn === undefined) {
      await job.moveToDelayed(Date.now() + lockMs * 2, token);
      throw new DelayedError();
    }
    const result = await this.#whole(readJobResult(request.returnvalue));
    return callbackBody(
      job.data,
      result ? { result } : { failedReason: request.failedReason },
      request.finishedOn,
    );
  }

  /**
   * Loads the value if it is in the blob store. @throws UnrecoverableError when its
   * blob has expired
   */
  async #whole(result: QueueJobResult | undefined): Promise<LoadedResult | undefined> {
    if (result?.outcome !== 'completed') return result;
    try {
      return { ...result, value: await loadValue(this.blobs, result.value) };
    } catch (error) {
      throw error instanceof BlobMissing
        ? new UnrecoverableError('its result has expired')
        : error;
    }
  }

  async #post(note: QueuedCallback, body: string): Promise<number> {
    const timestamp = Math.floor(Date.now() / 1000);
    const id = callbackId(note);
    const known = { 'webhook-id': id, 'webhook-timestamp': String(timestamp) };
    const headers = this.#signature(note)?.headers(id, timestamp, body) ?? known;
    const signal = AbortSignal.timeout(ATTEMPT_MS);
    try {
      return await postWebhook({
        url: note.url,
        headers,
        body,
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
  #signature({ secretName }: QueuedCallback): WebhookSignature | undefined {
    if (secretName === undefined) return undefined;
    return WebhookSignature.fromFile(
      join(this.spec.pull!.callbacks.secretsDir, secretName),
    );
  }

  #failed(job: Job<QueuedCallback> | undefined, { message }: Error): void {
    if (!job) return;
    const { jobId } = job.data;
    const fields = { jobId, attempts: job.attemptsMade, reason: message };
    if (job.finishedOn === undefined)
      this.log.warn(
        { event: 'callback_failed', ...fields },
        'Callback failed; it is sent again',
      );
    else
      this.log.error(
        { event: 'callback_given_up', ...fields },
        `Callback given up: ${message}`,
      );
  }
}
