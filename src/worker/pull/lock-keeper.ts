import { EventEmitter, once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Inject, Injectable } from '@nestjs/common';
import { type Logger } from 'pino';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { threadEntry } from '../engines/threads/thread-entry.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { type FromLockThread, type LockThreadData, type ToLockThread } from './lock-protocol.js';
import { planeOf } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';
import { type TakenJob } from './taken-job.js';

/**
 * Renews the locks of this worker's jobs on a thread of its own: an engine call that holds the event loop for minutes does not cost
 * the jobs. A stopped or dead process stops its threads as well, and loses them as it should.
 */
@Injectable()
export class LockKeeper {
  readonly #lost = new Map<string, () => void>();
  readonly #begun = new EventEmitter();
  #ready = false;
  #thread: Worker | undefined;
  #closed = false;

  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly queue: RequestQueue,
  ) {}

  /** Resolves when locks are renewed: a thread takes its time to start, and no job may be taken before. */
  async start(): Promise<void> {
    if (!this.#closed) this.#thread ??= this.#start();
    if (!this.#ready) await once(this.#begun, 'ready');
  }

  /** @param lost called once, when somebody else has the job */
  hold({ id, token }: TakenJob, untilMs: number, lost: () => void): Disposable {
    const key = `${id} ${token}`;
    this.#lost.set(key, lost);
    this.#send({ type: 'hold', id, token, untilMs });
    return {
      [Symbol.dispose]: () => {
        this.#lost.delete(key);
        this.#send({ type: 'release', id, token });
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.postMessage({ type: 'close' } satisfies ToLockThread);
    await thread?.terminate();
  }

  #send(message: ToLockThread): void {
    if (!this.#closed) (this.#thread ??= this.#start()).postMessage(message);
  }

  #began(): void {
    this.#ready = true;
    this.#begun.emit('ready');
  }

  #start(): Worker {
    const { url, lockMs } = planeOf(this.spec);
    const workerData: LockThreadData = {
      ...{ url, lockMs, queueKey: this.queue.key('').slice(0, -1) },
      options: { connectionName: `${this.spec.workerId.replaceAll(/\s/g, '_')}:locks` },
    };
    const thread = new Worker(threadEntry('./lock.thread.js', import.meta.url), { name: 'locks', workerData });
    thread.on('message', (message: FromLockThread) => {
      if (message.type === 'ready') this.#began();
      else for (const { id, token } of message.jobs) this.#lost.get(`${id} ${token}`)?.();
    });
    thread.on('error', error => {
      this.log.error(
        { event: 'lock_thread_died', err: error },
        'The thread that renews locks died; the next one starts',
      );
      this.#thread = undefined;
    });
    thread.unref();
    return thread;
  }
}
