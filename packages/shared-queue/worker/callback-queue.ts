import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import { type WorkerLink } from './worker-link.js';

/** BullMQ queue of callbacks; no model's queue can have this name. */
const CALLBACK_QUEUE = 'callbacks';
/** Callbacks that failed for good are kept for a week, at most this many. */
const KEPT = { age: 604_800, count: 1000 };
const AT_ONCE = 8;
/** BullMQ may wait for an unreachable Redis. */
const CLOSE_MS = 500;

/** Thrown when a callback is not to be sent again. */
export const GivenUp = UnrecoverableError;

/** What a job that has a callback ended with. */
interface FinishedJob {
  readonly finishedMs: number;
  /** The job's result in BullMQ. */
  readonly returnValue: unknown;
  /** BullMQ's reason, where no worker gave a result. */
  readonly failedReason: string;
}

export interface CallbackAttempt<Note> {
  readonly note: Note;
  /** Number of the attempt, from 1. */
  readonly nth: number;
  /** Stores the note for the next attempts. */
  update(note: Note): Promise<void>;
  /**
   * @throws Error that ends this attempt while the job runs
   * @throws GivenUp when the job is gone
   */
  finished(queue: string, jobId: string): Promise<FinishedJob>;
}

/**
 * Callbacks that wait in BullMQ, so that they survive the worker that added them. Any worker
 * sends any of them, at least once.
 */
export class CallbackQueue<Note extends object> {
  #queue: Queue | undefined;
  #worker: Worker<Note, void, string> | undefined;

  constructor(private readonly link: WorkerLink) {}

  /** Not due before its delay is over; a second one of that id changes nothing. */
  async add(id: string, note: Note, attempts: number, backoffMs: number): Promise<void> {
    await this.#open().add('callback', note, {
      jobId: id,
      timestamp: this.link.clock.nowMs(),
      delay: this.#delayMs,
      attempts,
      backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: KEPT,
    });
  }

  /** Makes the callback due now. */
  async due(id: string): Promise<void> {
    await (await this.#open().getJob(id))?.promote();
  }

  /**
   * Begins to send those that are due.
   * @param send an error of it fails the attempt; a `GivenUp` all of them
   * @param limitMs what one attempt may take
   */
  start(
    send: (attempt: CallbackAttempt<Note>) => Promise<void>,
    limitMs: number,
    told: {
      readonly waits: (error: Error) => void;
      readonly failed: (note: Note, attempts: number, isGivenUp: boolean, error: Error) => void;
    },
  ): void {
    this.#worker = new Worker<Note, void, string>(
      CALLBACK_QUEUE,
      (job, token) => send(this.#attempt(job, token)),
      {
        connection: this.link.for('callbacks'),
        prefix: this.link.keys.prefix,
        concurrency: AT_ONCE,
        lockDuration: Math.max(this.link.sharedQueue.lockMs, 2 * limitMs),
        maxStalledCount: Number.MAX_SAFE_INTEGER,
      },
    );
    this.#worker.on('error', told.waits);
    this.#worker.on('failed', (job, error) => {
      if (job) told.failed(job.data, job.attemptsMade, job.finishedOn !== undefined, error);
    });
  }

  /** An interrupted attempt is repeated by another worker. */
  async close(): Promise<void> {
    const closing = this.#worker?.close(true).catch(() => undefined);
    await Promise.race([closing, sleep(CLOSE_MS)]);
  }

  get #delayMs(): number {
    return this.link.sharedQueue.lockMs * 2;
  }

  #attempt(job: Job<Note, void, string>, token: string | undefined): CallbackAttempt<Note> {
    return {
      note: job.data,
      nth: job.attemptsMade + 1,
      update: note => job.updateData(note),
      finished: async (queue, jobId) => {
        const connection = this.link.for('callbacks');
        const { prefix } = this.link.keys;
        const found = await new Queue(queue, { connection, prefix }).getJob(jobId);
        if (!found) throw new GivenUp('its job and result are gone');
        const { finishedOn: finishedMs, failedReason } = found;
        const returnValue: unknown = found.returnvalue;
        if (finishedMs !== undefined) return { finishedMs, returnValue, failedReason };
        // By the clock of this process, which BullMQ compares it with.
        await job.moveToDelayed(Date.now() + this.#delayMs, token);
        throw new DelayedError();
      },
    };
  }

  #open(): Queue {
    return (this.#queue ??= new Queue(CALLBACK_QUEUE, {
      connection: this.link.for('work'),
      prefix: this.link.keys.prefix,
      // One whose first command fails would fail for ever.
      skipVersionCheck: true,
    }));
  }
}
