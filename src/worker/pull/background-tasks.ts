import { Inject, Injectable } from '@nestjs/common';
import { type Logger } from 'pino';
import { exhaustMap, interval, type Subscription } from 'rxjs';
import { sweepEveryMs } from '../../platform/redis/result-expiry.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { CallbackSender } from './callback-sender.js';
import { LockKeeper } from './lock-keeper.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';

/**
 * Tasks beside the pull loop: locks are renewed, callbacks sent, and what any worker of a
 * queue does for all: it takes over jobs of dead workers, and removes old results.
 */
@Injectable()
export class BackgroundTasks {
  readonly #subscriptions: Subscription[] = [];

  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly queue: RequestQueue,
    private readonly connections: PullConnections,
    private readonly callbacks: CallbackSender,
    private readonly locks: LockKeeper,
  ) {}

  /** Resolves when jobs may be taken. */
  async start(): Promise<void> {
    const { sharedQueue } = this.connections;
    this.#every(this.queue.sweepMs, () => this.#takeOver());
    this.#every(sweepEveryMs(sharedQueue.resultTtlMs), () => this.queue.sweep());
    this.callbacks.start();
    await this.locks.start();
  }

  stop(): void {
    for (const subscription of this.#subscriptions.splice(0)) subscription.unsubscribe();
  }

  async close(): Promise<void> {
    await this.callbacks.close();
    await this.locks.close();
  }

  /** One run at a time, so none pile up while Redis is unreachable. */
  #every(ms: number, work: () => Promise<unknown>): void {
    const careful = (): Promise<unknown> =>
      work().catch((error: unknown) =>
        this.log.debug(
          { event: 'housekeeping_failed', err: error },
          'Housekeeping failed',
        ),
      );
    this.#subscriptions.push(interval(ms).pipe(exhaustMap(careful)).subscribe());
  }

  async #takeOver(): Promise<void> {
    const jobIds = await this.queue.takeOver();
    if (jobIds.length === 0) return;
    this.log.warn(
      { event: 'jobs_taken_over', jobIds },
      `${jobIds.length} jobs of a dead or unresponsive worker are queued again`,
    );
  }
}
