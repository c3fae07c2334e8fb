import { Inject, Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { type Logger } from 'pino';
import { type LoadedResult } from '../../contracts/queue-jobs/job-result.js';
import { type JobCallback } from '../../contracts/queue-jobs/queue-job.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { sharedQueueOf, PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';
import { type PulledJob } from './taken-job.js';

/** BullMQ queue of callbacks; no model's queue can have this name. */
export const CALLBACK_QUEUE = 'callbacks';

/** A callback to be sent. */
export interface QueuedCallback extends JobCallback {
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
export const callbackId = ({
  queue,
  jobId,
}: Pick<QueuedCallback, 'queue' | 'jobId'>): string => `${queue}.${jobId}`;

/** How a job ended: with a worker's result, or with BullMQ's own reason. */
export type JobEnd =
  { readonly result: LoadedResult } | { readonly failedReason: string };

/** As OpenAI's webhook events. @param finishedMs epoch */
export function callbackBody(
  note: QueuedCallback,
  end: JobEnd,
  finishedMs: number,
): string {
  const outcome = 'result' in end ? end.result.outcome : 'failed';
  return JSON.stringify({
    id: callbackId(note),
    object: 'event',
    type: `request.${outcome}`,
    created_at: Math.floor(finishedMs / 1000),
    data: {
      id: note.requestId,
      queue: note.queue,
      job_id: note.jobId,
      ...contentOf(end),
    },
  });
}

function contentOf(end: JobEnd): object {
  if ('failedReason' in end)
    return { error: { code: 'worker_lost', message: end.failedReason } };
  const { result } = end;
  if (result.outcome === 'completed')
    return { value: result.value, execution: result.execution };
  return result.outcome === 'failed' ? { error: result.error } : {};
}

/** Callbacks that failed for good are kept for a week, at most this many. */
const KEPT = { age: 604_800, count: 1000 };

/**
 * Queue of callbacks, in BullMQ, so that they survive the worker that added them. A
 * callback is added with a delay before its job is completed, and made due when the job
 * is; if the worker dies in between, the delay runs out. The result is read from the job
 * when the callback is sent, so the answer of a worker that lost the job is never sent.
 */
@Injectable()
export class CallbackOutbox {
  #queue: Queue<QueuedCallback> | undefined;

  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly connections: PullConnections,
    private readonly requests: RequestQueue,
  ) {}

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
    const { attempts, backoffMs } = this.spec.pull!.callbacks;
    await this.#open().add('callback', note, {
      jobId: callbackId(note),
      delay: sharedQueueOf(this.spec).lockMs * 2,
      attempts,
      backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
      ...{ removeOnComplete: true, removeOnFail: KEPT },
    });
  }

  /**
   * Never rejects: a callback that is not made due now is sent when its delay is over.
   */
  async due({ job }: PulledJob): Promise<void> {
    try {
      const found = await this.#open().getJob(
        callbackId({ queue: this.requests.name, jobId: job.id }),
      );
      await found?.promote();
    } catch (error) {
      this.log.debug(
        { event: 'callback_later', jobId: job.id, err: error },
        'The callback is sent when its delay is over',
      );
    }
  }

  #open(): Queue<QueuedCallback> {
    const { prefix } = sharedQueueOf(this.spec);
    this.#queue ??= new Queue<QueuedCallback>(CALLBACK_QUEUE, {
      ...{ connection: this.connections.for('work'), prefix },
      // One whose first command fails would fail for ever.
      skipVersionCheck: true,
    });
    return this.#queue;
  }
}
