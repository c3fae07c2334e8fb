import { Worker } from 'node:worker_threads';
import { Inject, Injectable } from '@nestjs/common';
import { type Logger } from 'pino';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { type LockThreadData, type ToLockThread } from './lock.thread.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue, type Stray } from './request-queue.js';
import { type TakenJob } from './taken-job.js';

/** Pause before a dead thread is replaced. */
const RESTART_MS = 1000;

/**
 * Renews the locks of this worker's jobs on a thread, so that an engine call that blocks
 * the event loop for minutes does not lose them. A stopped or dead process stops its
 * threads too, and loses its jobs as it should.
 */
@Injectable()
export class LockKeeper {
  readonly #held = new Map<
    string,
    { readonly hold: ToLockThread; readonly lost: () => void }
  >();
  readonly #begun = Promise.withResolvers<void>();
  #thread: Worker | undefined;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly queue: RequestQueue,
    private readonly connections: PullConnections,
  ) {}

  /** Resolves when a thread runs: no job may be taken before. */
  async start(): Promise<void> {
    if (!this.#closed) this.#thread ??= this.#start();
    await this.#begun.promise;
  }

  /** @param lost called once, when another worker has the job */
  hold({ id, token }: TakenJob, untilMs: number, lost: () => void): Disposable {
    const key = `${id} ${token}`;
    const hold: ToLockThread = { type: 'hold', id, token, untilMs };
    this.#held.set(key, { hold, lost });
    this.#send(hold);
    return {
      [Symbol.dispose]: () => {
        this.#held.delete(key);
        this.#send({ type: 'release', id, token });
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.postMessage({ type: 'close' } satisfies ToLockThread);
    await thread?.terminate();
  }

  #send(message: ToLockThread): void {
    // Without a thread nothing is lost: the next one receives all held locks.
    this.#thread?.postMessage(message);
  }

  #start(): Worker {
    const { sharedQueue, keys, announcedId } = this.connections;
    const { url, lockMs } = sharedQueue;
    const workerData: LockThreadData = {
      url,
      lockMs,
      queueKey: this.queue.key('').slice(0, -1),
      announcementKey: keys.worker(announcedId),
      options: { connectionName: `${this.spec.workerId.replaceAll(/\s/g, '_')}:locks` },
    };
    const thread = this.spawn(workerData);
    // Jobs that another worker has, or that are finished; at its start none.
    thread.on('message', (lost: readonly Stray[]) => {
      this.#begun.resolve();
      for (const { id, token } of lost) this.#held.get(`${id} ${token}`)?.lost();
    });
    // Handled, so that it does not end the process; `exit` follows.
    thread.on('error', error =>
      this.log.error({ event: 'lock_thread_died', err: error }, LOCK_THREAD_DIED),
    );
    thread.on('exit', () => this.#startAgain());
    thread.unref();
    for (const { hold } of this.#held.values()) thread.postMessage(hold);
    return thread;
  }

  #startAgain(): void {
    if (this.#closed) return;
    this.#thread = undefined;
    this.#restart = setTimeout(() => (this.#thread = this.#start()), RESTART_MS);
  }

  /** For specs that end it. */
  protected spawn(workerData: LockThreadData): Worker {
    return new Worker(threadEntry('./lock.thread.js', import.meta.url), {
      name: 'locks',
      workerData,
    });
  }
}

const LOCK_THREAD_DIED = 'The thread that renews locks died; it is replaced.';
