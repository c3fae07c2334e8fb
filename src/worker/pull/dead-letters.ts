import { Inject, Injectable } from '@nestjs/common';
import { type Logger } from 'pino';
import { DEAD_LETTER_BYTES, DEAD_LETTERS_KEPT } from '../../contracts/queue-jobs/queue-keys.js';
import { type DeadLetter } from '../../contracts/queue-jobs/queue-messages.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue, type Stray } from './request-queue.js';

/** Bytes of a letter that go to the log as well. */
const SHOWN = 200;

/** The beginning of a job's data, and how long it is: what nobody can read may have any size. */
const READ = `
  local data = redis.call('HGET', KEYS[1], 'data') or ''
  return { string.sub(data, 1, tonumber(ARGV[1])), #data }
`;

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
    const [raw, bytes] = (await redis.callBuffer('eval', READ, 1, this.queue.key(job.id), DEAD_LETTER_BYTES)) as [
      Buffer,
      number,
    ];
    const { model, workerId } = { model: this.spec.model.id, workerId: this.spec.workerId };
    const letter: DeadLetter = {
      ...{ v: 1, jobId: job.id, queue: this.queue.name, reason },
      ...{ raw: raw.toString('base64'), bytes, workerId, atMs: Date.now() },
    };
    const list = this.connections.keys.dead(model);
    await redis
      .multi()
      .lpush(list, JSON.stringify(letter))
      .ltrim(list, 0, DEAD_LETTERS_KEPT - 1)
      .exec();
    await this.queue.fail(job, `dead letter: ${reason}`);
    const shown = raw.toString('utf8', 0, SHOWN);
    this.log.error({ event: 'dead_letter', jobId: job.id, reason, bytes, shown }, `Dead letter: ${reason}`);
  }
}
