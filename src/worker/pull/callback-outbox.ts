import { Inject, Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { type Logger } from 'pino';
import { type LoadedResult } from '../../contracts/queue-jobs/job-result.js';
import { type JobCallback } from '../../contracts/queue-jobs/queue-job.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { planeOf, PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';
import { type PulledJob } from './taken-job.js';

/** BullMQ queue of callbacks; no model's queue can have this name. */
export const CALLBACK_QUEUE = 'callbacks';

/** One callback on its way. */
export interface QueuedCallback extends JobCallback {
  /** BullMQ queue and job whose result it tells. */
  readonly queue: string;
  readonly jobId: string;
  readonly requestId: string;
  /** What is sent, once the result was there: later attempts say the same when the result has expired. */
  readonly body?: string;
}

/** One per job, and the `webhook-id` by which a receiver knows repeats. */
export const callbackId = ({ queue, jobId }: Pick<QueuedCallback, 'queue' | 'jobId'>): string => `${queue}.${jobId}`;

/** What a job ended with: a worker's result, or BullMQ's own reason. */
export type JobEnd = { readonly result: LoadedResult } | { readonly failedReason: string };

/** As OpenAI's webhook events. @param finishedMs epoch */
export function callbackBody(note: QueuedCallback, end: JobEnd, finishedMs: number): string {
  const outcome = 'result' in end ? end.result.outcome : 'failed';
  return JSON.stringify({
    id: callbackId(note),
    object: 'event',
    type: `request.${outcome}`,
    created_at: Math.floor(finishedMs / 1000),
    data: { id: note.requestId, queue: note.queue, job_id: note.jobId, ...contentOf(end) },
  });
}

function contentOf(end: JobEnd): object {
  if ('failedReason' in end) return { error: { code: 'worker_lost', message: end.failedReason } };
  const { result } = end;
  if (result.outcome === 'completed') return { value: result.value, execution: result.execution };
  return result.outcome === 'failed' ? { error: result.error } : {};
}

/** Given up: the last of a week are kept, to be looked at. */
const KEPT = { age: 604_800, count: 1000 };

/**
 * Callbacks to send: a BullMQ queue of its own, so that they survive whoever wrote them. One is written before its job is completed, to be
 * looked at later, and made due when the job is; a worker that dies in between leaves it to be found. The result is read
 * from the job when it is sent, so no zombie's answer is ever told.
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

  /** A job without a callback costs nothing. The same job's callback is written once, by whichever worker comes first. */
  async promise({ job, order }: PulledJob): Promise<void> {
    if (!order.callback) return;
    const note: QueuedCallback = { ...order.callback, queue: this.requests.name, jobId: job.id, requestId: order.id };
    const { attempts, backoffMs } = this.spec.pull!.callbacks;
    await this.#open().add('callback', note, {
      jobId: callbackId(note),
      delay: planeOf(this.spec).lockMs * 2,
      attempts,
      backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
      ...{ removeOnComplete: true, removeOnFail: KEPT },
    });
  }

  /** Never rejects: one that is not made due now is found when its delay is over. */
  async due({ job }: PulledJob): Promise<void> {
    try {
      const found = await this.#open().getJob(callbackId({ queue: this.requests.name, jobId: job.id }));
      await found?.promote();
    } catch (error) {
      this.log.debug(
        { event: 'callback_later', jobId: job.id, err: error },
        'The callback is sent when its delay is over',
      );
    }
  }

  #open(): Queue<QueuedCallback> {
    const { prefix } = planeOf(this.spec);
    this.#queue ??= new Queue<QueuedCallback>(CALLBACK_QUEUE, { connection: this.connections.for('work'), prefix });
    return this.#queue;
  }
}
