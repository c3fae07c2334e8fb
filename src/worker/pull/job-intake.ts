import { Inject, Injectable } from '@nestjs/common';
import { type Logger } from 'pino';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { readQueueJob } from '../../contracts/queue-jobs/queue-job-reader.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { DeadLetters } from './dead-letters.js';
import { LockKeeper } from './lock-keeper.js';
import { persistently } from './persistently.js';
import { type PulledJob } from './pulled-job.js';
import { JobLost, RequestQueue, type Stray } from './request-queue.js';
import { type TakenJob } from './taken-job.js';

/** Past its inference deadline a job is settled within this, or its process hangs and somebody else should have it. */
const LEEWAY_MS = 30_000;

/** Every job passes here first: locked for as long as it may take, and readable, or a dead letter. */
@Injectable()
export class JobIntake {
  /** Dead letters on their way; a shutdown waits for them. */
  readonly #burials = new Set<Promise<void>>();

  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly locks: LockKeeper,
    private readonly letters: DeadLetters,
    private readonly queue: RequestQueue,
  ) {}

  /** Undefined: nobody can read it; it is put aside in the background. */
  open(job: TakenJob): PulledJob | undefined {
    const gone = new AbortController();
    const order = this.#read(job);
    const forMs = order instanceof Error ? LEEWAY_MS : order.timeoutMs + LEEWAY_MS;
    const lock = this.locks.hold(job, Date.now() + forMs, () => gone.abort(new JobLost('its lock is lost')));
    if (!(order instanceof Error)) return { job, order, gone, lock };
    this.#putAside(job, order.message, gone.signal, lock);
    return undefined;
  }

  /** Jobs that BullMQ itself could not hand over, for their options are not what it wrote. */
  putAside(stray: Stray, reason: string): void {
    this.#putAside(stray, reason, new AbortController().signal);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#burials);
  }

  #read({ id, raw, timestamp }: TakenJob): QueueJob | Error {
    try {
      return readQueueJob(JSON.parse(raw), { jobId: id, timestamp, model: this.spec.model.id });
    } catch (error) {
      return error instanceof SyntaxError ? new Error(`data is no JSON: ${error.message}`) : (error as Error);
    }
  }

  #putAside(job: Stray, reason: string, signal: AbortSignal, lock?: Disposable): void {
    const failed = (error: Error): void =>
      this.log.warn({ event: 'burial_failed', jobId: job.id, err: error }, 'A dead letter is put aside later');
    const burial = persistently(() => this.letters.bury(job, reason), { signal, failed })
      .catch(() => undefined)
      .finally(() => {
        lock?.[Symbol.dispose]();
        this.#burials.delete(burial);
      });
    this.#burials.add(burial);
  }
}
