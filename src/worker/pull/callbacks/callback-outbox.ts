import { Inject, Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { type Logger } from 'pino';
import { planeOf, PullConnections } from '../pull-connections.js';
import { WORKER_SPEC, type WorkerSpec } from '../../../platform/config/worker-spec.js';
import { WORKER_LOG } from '../../lifecycle/worker-log.js';
import { type PulledJob } from '../pulled-job.js';
import { RequestQueue } from '../request-queue.js';
import { CALLBACK_QUEUE, callbackId, type CallbackNote } from './callback-note.js';

/** Given up: the last of a week are kept, to be looked at. */
const KEPT = { age: 604_800, count: 1000 };

/**
 * Callbacks to send: a BullMQ queue of its own, so that they survive whoever wrote them. One is written before its job is completed, to be
 * looked at later, and made due when the job is; a worker that dies in between leaves it to be found. The result is read
 * from the job when it is sent, so no zombie's answer is ever told.
 */
@Injectable()
export class CallbackOutbox {
  #queue: Queue<CallbackNote> | undefined;

  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly connections: PullConnections,
    private readonly requests: RequestQueue,
  ) {}

  /** A job without a callback costs nothing. The same job's callback is written once, by whichever worker comes first. */
  async promise({ job, order }: PulledJob): Promise<void> {
    if (!order.callback) return;
    const note: CallbackNote = { ...order.callback, queue: this.requests.name, jobId: job.id, requestId: order.id };
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

  #open(): Queue<CallbackNote> {
    const { prefix } = planeOf(this.spec);
    this.#queue ??= new Queue<CallbackNote>(CALLBACK_QUEUE, { connection: this.connections.for('work'), prefix });
    return this.#queue;
  }
}
