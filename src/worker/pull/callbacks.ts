import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type JobCallback } from '@switchyard/shared-queue/job.codec.js';
import { type QueueJobResult, readJobResult } from '@switchyard/shared-queue/result.codec.js';
import {
  type CallbackAttempt,
  CallbackQueue,
  GivenUp,
} from '@switchyard/shared-queue/worker/callback-queue.js';
import { RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type PulledJob } from '@switchyard/shared-queue/worker/taken-job.js';
import { type Logger } from 'pino';
import { DomainError } from '../../core/errors/domain-error.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { HostExceptions } from '../../platform/http/host-exceptions.js';
import { loadValue } from '../../platform/storage/blob-keys.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { postWebhook, webhookSecret } from '../../platform/webhooks/webhook-post.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullConnections } from './pull-connections.js';

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

/** Timeout of one attempt. */
const ATTEMPT_MS = 15_000;
/** Delays double from `pull.callback_backoff_ms` on: with its default they are almost three hours. */
const ATTEMPTS = 12;

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
  readonly #queue: CallbackQueue<QueuedCallback>;

  constructor(
    private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly blobs: BlobStore,
    connections: PullConnections,
    private readonly requests: RequestQueue,
  ) {
    this.#queue = new CallbackQueue(connections);
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
    const { callbackBackoffMs } = this.spec.pull!;
    await this.#queue.add(callbackId(note), note, ATTEMPTS, callbackBackoffMs);
  }

  /**
   * Never rejects: a callback that is not made due now is sent when its delay is over.
   */
  async due({ job }: PulledJob): Promise<void> {
    try {
      await this.#queue.due(callbackId({ queue: this.requests.name, jobId: job.id }));
    } catch (error) {
      this.log.debug(
        { event: 'callback_later', jobId: job.id, err: error },
        'The callback is sent when its delay is over',
      );
    }
  }

  /** Begins to send those that are due. */
  start(): void {
    this.#queue.start(attempt => this.#send(attempt), ATTEMPT_MS, {
      waits: error =>
        this.log.debug({ event: 'callbacks_wait', err: error }, 'Callbacks wait for Redis'),
      failed: (note, attempts, isGivenUp, error) =>
        this.#failed({ jobId: note.jobId, attempts, reason: error.message }, isGivenUp),
    });
  }

  /** An interrupted attempt is repeated by another worker. */
  close(): Promise<void> {
    return this.#queue.close();
  }

  async #send(attempt: CallbackAttempt<QueuedCallback>): Promise<void> {
    const { note, nth } = attempt;
    const body = note.body ?? (await this.#body(attempt));
    // A receiver that is down for a day still gets a result that has long expired.
    if (note.body === undefined) await attempt.update({ ...note, body });
    const status = await this.#post(note, body);
    if (status === 410) throw new GivenUp('the receiver refuses further callbacks (410)');
    if (status < 200 || status > 299) throw new Error(`status ${status}`);
    this.log.info({ event: 'callback_sent', jobId: note.jobId, attempt: nth }, 'Callback sent');
  }

  /** As OpenAI's webhook events. @throws what `attempt.finished` throws */
  async #body(attempt: CallbackAttempt<QueuedCallback>): Promise<string> {
    const { note } = attempt;
    const { queue, jobId, requestId: id } = note;
    const { finishedMs, returnValue, failedReason } = await attempt.finished(queue, jobId);
    const result = readJobResult(returnValue);
    const content = await this.#content(result, failedReason);
    return writeJson({
      id: callbackId(note),
      object: 'event',
      type: `request.${result?.outcome ?? 'failed'}`,
      created_at: Math.floor(finishedMs / 1000),
      data: { id, queue, job_id: jobId, ...content },
    });
  }

  /**
   * @param failedReason BullMQ's own, where no worker gave a result. @throws
   *   GivenUp when the blob of its value has expired
   */
  async #content(result: QueueJobResult | undefined, failedReason: string): Promise<object> {
    if (!result) return { error: { code: 'worker_lost', message: failedReason } };
    if (result.outcome === 'failed') return { error: result.error };
    if (result.outcome === 'cancelled') return {};
    const { value, execution } = result;
    try {
      return { value: await loadValue(this.blobs, value), execution };
    } catch (error) {
      throw error instanceof BlobMissing ? new GivenUp('its result has expired') : error;
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
      throw refused ? new GivenUp('its address is not allowed') : error;
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

  #failed(
    fields: { readonly reason: string; readonly [name: string]: unknown },
    isGivenUp: boolean,
  ): void {
    if (isGivenUp)
      this.log.error(
        { event: 'callback_given_up', ...fields },
        `Callback given up: ${fields.reason}`,
      );
    else
      this.log.warn({ event: 'callback_failed', ...fields }, 'Callback failed; it is sent again');
  }
}
