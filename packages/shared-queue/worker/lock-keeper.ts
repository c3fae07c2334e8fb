import { Worker } from 'node:worker_threads';
import { threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { type QueueLog } from '../log.js';
import { type LockOrder, type LockThreadData } from './lock.thread.js';
import { type TakenJob } from './taken-job.js';
import { type WorkerLink } from './worker-link.js';

/** Between two signs of life of this thread to the one that renews. */
const ALIVE_MS = 5000;
/** Pause before a dead thread is replaced. */
const RESTART_MS = 1000;

/**
 * Renews the locks of this worker's jobs on a thread, so that an engine call that blocks
 * the event loop for minutes does not lose them. A stopped or dead process stops its
 * threads too, and loses its jobs as it should.
 */
export class LockKeeper {
  /** Held locks by token. */
  readonly #held = new Map<string, { readonly order: LockOrder; readonly lost: () => void }>();
  readonly #begun = Promise.withResolvers<void>();
  #thread: Worker | undefined;
  #restart: NodeJS.Timeout | undefined;
  readonly #alive = setInterval(() => this.#thread?.postMessage('alive'), ALIVE_MS).unref();
  #closed = false;

  /** @param queueKey `PREFIX:QUEUE` @param name name of the connection */
  constructor(
    private readonly link: Pick<WorkerLink, 'keys' | 'announcedId' | 'sharedQueue'>,
    private readonly queueKey: string,
    private readonly name: string,
    private readonly log: Pick<QueueLog, 'error'>,
  ) {}

  /** Resolves when a thread runs: no job may be taken before. */
  async start(): Promise<void> {
    if (!this.#closed) this.#thread ??= this.#start();
    await this.#begun.promise;
  }

  /**
   * @param silentMs a process that hangs for longer loses the job
   * @param lost called once, when another worker has the job
   */
  hold({ id, token }: TakenJob, silentMs: number, lost: () => void): Disposable {
    const order: LockOrder = { token, hold: { id, silentMs } };
    this.#held.set(token, { order, lost });
    // Without a thread nothing is lost: the next one receives all held locks.
    this.#thread?.postMessage(order);
    return {
      [Symbol.dispose]: () => {
        this.#held.delete(token);
        this.#thread?.postMessage({ token } satisfies LockOrder);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    clearInterval(this.#alive);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  #start(): Worker {
    const { sharedQueue, keys, announcedId } = this.link;
    const { server, lockMs } = sharedQueue;
    const workerData: LockThreadData = {
      lockMs,
      queueKey: this.queueKey,
      announcementKey: keys.worker(announcedId),
      options: { ...server, connectionName: this.name },
    };
    const thread = this.spawn(workerData);
    // Jobs that another worker has, or that are finished; at its start none.
    thread.on('message', (lost: readonly string[]) => {
      this.#begun.resolve();
      for (const token of lost) this.#held.get(token)?.lost();
    });
    // Handled, so that it does not end the process; `exit` follows.
    thread.on('error', (error: unknown) =>
      this.log.error({ event: 'lock_thread_died', err: error }, LOCK_THREAD_DIED),
    );
    thread.on('exit', () => this.#startAgain());
    thread.unref();
    for (const { order } of this.#held.values()) thread.postMessage(order);
    return thread;
  }

  #startAgain(): void {
    if (this.#closed) return;
    this.#thread = undefined;
    this.#restart = setTimeout(() => (this.#thread = this.#start()), RESTART_MS);
  }

  /** Starts the thread. Specs replace it. */
  protected spawn(workerData: LockThreadData): Worker {
    return new Worker(threadEntry('./lock.thread.js', import.meta.url), {
      name: 'locks',
      workerData,
    });
  }
}

const LOCK_THREAD_DIED = 'The thread that renews locks died; it is replaced.';
