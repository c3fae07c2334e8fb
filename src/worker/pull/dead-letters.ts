import { Inject, Injectable } from '@nestjs/common';
import { type Logger } from 'pino';
import { DEAD_LETTERS_KEPT } from '../../contracts/queue-jobs/queue-keys.js';
import { type DeadLetter } from '../../contracts/queue-jobs/queue-messages.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue, type Stray } from './request-queue.js';

/** Bytes of a letter that go to the log as well. */
const SHOWN = 200;

/** Jobs that nobody can read end here, with the reason and their bytes; BullMQ tells their writer `failed`. */
@Injectable()
export class DeadLetters {
  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {}

  /** First kept, then failed: a death in between leaves two letters and never none. @throws JobLost */
  async bury(job: Stray, reason: string): Promise<void> {
    const redis = this.connections.for('work');
    const raw = (await redis.hgetBuffer(this.queue.key(job.id), 'data')) ?? Buffer.alloc(0);
    const { model, workerId } = { model: this.spec.model.id, workerId: this.spec.workerId };
    const letter: DeadLetter = {
      ...{ v: 1, jobId: job.id, queue: this.queue.name, reason },
      ...{ raw: raw.toString('base64'), workerId, atMs: Date.now() },
    };
    const list = this.connections.keys.dead(model);
    await redis
      .multi()
      .lpush(list, JSON.stringify(letter))
      .ltrim(list, 0, DEAD_LETTERS_KEPT - 1)
      .exec();
    await this.queue.fail(job, `dead letter: ${reason}`);
    const shown = raw.toString('utf8', 0, SHOWN);
    this.log.error({ event: 'dead_letter', jobId: job.id, reason, bytes: raw.length, shown }, `Dead letter: ${reason}`);
  }
}
