import { Inject, Injectable } from '@nestjs/common';
import { type JobValue, type QueueJobResult } from '@switchyard/shared-queue/result.codec.js';
import {
  JobLost,
  RequestQueue,
  retryUntilAborted,
} from '@switchyard/shared-queue/worker/request-queue.js';
import { type PulledJob } from '@switchyard/shared-queue/worker/taken-job.js';
import { deviceShareMs } from '@switchyard/worker-protocol/call.codec.js';
import { type Logger } from 'pino';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { blobOf, storeLarge } from '../../platform/storage/blob-keys.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { Callbacks } from './callbacks.js';

/**
 * Delivers results to the queue. Results that Redis does not accept are kept and retried
 * until the lock is lost.
 */
@Injectable()
export class ResultDelivery {
  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly blobs: BlobStore,
    private readonly queue: RequestQueue,
    private readonly callbacks: Callbacks,
  ) {}

  /** Stores the result of a job and reports it to its gateway. Never rejects. */
  async deliver(pulled: PulledJob, result: QueueJobResult<JobValue>): Promise<void> {
    const { job, order } = pulled;
    const stored = await this.#store(result);
    const deviceMs = result.outcome === 'completed' ? deviceShareMs(result.execution) : undefined;
    const settled = await this.#try(pulled, 'result', async () => {
      // Before the result: after a crash in between, the callback is there and finds
      // the result later.
      await this.callbacks.promise(pulled);
      await this.queue.complete(job, stored, deviceMs);
    });
    if (!settled) return this.#discard(stored);
    if (order.callback) await this.callbacks.due(pulled);
  }

  /** Returns the job to the front of the queue. Never rejects. */
  async giveBack(pulled: PulledJob, why: string): Promise<void> {
    const given = await this.#try(pulled, 'return', () => this.queue.giveBack(pulled.job));
    if (given)
      this.log.info({ event: 'job_given_back', jobId: pulled.job.id, why }, `Given back: ${why}`);
  }

  /**
   * Large values go to the blob store, since Redis keeps everything in memory. If that
   * store fails, Redis gets them.
   */
  async #store(result: QueueJobResult<JobValue>): Promise<QueueJobResult> {
    if (result.outcome !== 'completed') return result;
    try {
      return { ...result, value: await storeLarge(this.blobs, result.value) };
    } catch (error) {
      this.log.warn(
        { event: 'result_inline', err: error },
        'A large result was not stored as a blob; Redis keeps it',
      );
      return result;
    }
  }

  async #try({ job, gone }: PulledJob, what: string, work: () => Promise<void>): Promise<boolean> {
    let attempts = 0;
    const failed = (error: Error, attempt: number): void => {
      attempts = attempt;
      if (attempt === 1)
        this.log.warn(
          { event: 'delivery_failed', jobId: job.id, what, err: error },
          'Redis accepted no answer; retrying',
        );
    };
    try {
      await retryUntilAborted(work, { signal: gone.signal, failed });
      return true;
    } catch (error) {
      // After a broken connection the first attempt may have been executed.
      const why = error instanceof JobLost && attempts > 0 ? 'it was delivered before, or ' : '';
      const reason = `${why}another worker has the job`;
      this.log.warn(
        { event: 'late_answer_dropped', jobId: job.id, what, reason },
        `A late ${what} is dropped: ${reason}`,
      );
      return false;
    }
  }

  async #discard(result: QueueJobResult): Promise<void> {
    const blob = result.outcome === 'completed' ? blobOf(result.value) : undefined;
    if (blob === undefined) return;
    await this.blobs.remove(blob).catch((error: unknown) => {
      this.log.warn(
        { event: 'blob_left', err: error },
        'The blob of a dropped answer could not be removed',
      );
    });
  }
}
