import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type Logger } from 'pino';
import { firstValueFrom } from 'rxjs';
import { backoffMs } from '../../core/shared/backoff.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullReadiness } from '../lifecycle/worker-state.js';
import { type CollectedGroup, GroupCollector } from './group-collector.js';
import { HeldJobs } from './held-jobs.js';
import { JobIntake } from './job-intake.js';
import { PullFeed } from './pull-feed.js';
import { RequestQueue } from './request-queue.js';
import { isHurried, type PulledJob } from './taken-job.js';

const PAUSES = { firstMs: 100, longestMs: 2000 };

/**
 * The loop of a pull worker: room, a group, on to the device, again. Whatever happens in a round is logged, and after a pause the next
 * one begins: it ends when it is told to and never otherwise.
 */
@Injectable()
export class PullLoop {
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #ended: Promise<void> | undefined;

  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly feed: PullFeed,
    private readonly hand: HeldJobs,
    private readonly queue: RequestQueue,
    private readonly intake: JobIntake,
    private readonly readiness: PullReadiness,
  ) {}

  start(): void {
    if (!this.#stopped.signal.aborted) this.#running ??= this.#run();
  }

  /** Takes nothing more; what is collected and not begun goes back to the queue. Resolves when the loop has ended. */
  stop(): Promise<void> {
    return (this.#ended ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#stopped.abort();
    this.feed.close();
    await this.#running;
    await this.intake.settled();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for (let failures = 0; !signal.aborted;) {
      const trouble = await this.#round().catch((error: unknown) => error as Error);
      this.readiness.report('loop', trouble === undefined);
      if (trouble === undefined) failures = 0;
      else if (!signal.aborted) await this.#recover(trouble, ++failures);
    }
    this.readiness.report('loop', false);
  }

  /** Answers what went wrong. */
  async #round(): Promise<Error | undefined> {
    const { signal } = this.#stopped;
    await this.hand.room(signal);
    if (signal.aborted) return undefined;
    const group = await firstValueFrom(this.#collector().collect(), { defaultValue: undefined });
    if (group) this.#dispatch(group);
    return this.feed.trouble();
  }

  #collector(): GroupCollector<PulledJob> {
    const { feed, hand } = this;
    return new GroupCollector({
      feed,
      rules: hand.rules(),
      device: () => hand.outlook(),
      hurried: ({ job }) => isHurried(job),
    });
  }

  #dispatch({ jobs, waitedMs }: CollectedGroup<PulledJob>): void {
    if (this.#stopped.signal.aborted) return this.hand.giveBack(jobs, 'the worker is shutting down');
    const maxSize = this.hand.rules().maxSize;
    const fields = { event: 'batch_collected', size: jobs.length, maxSize, waitedMs: Math.round(waitedMs) };
    this.log.info(fields, `Batch collected: ${jobs.length}/${maxSize} items`);
    this.hand.begin(jobs, { id: randomUUID(), size: jobs.length, waitedMs });
  }

  async #recover(trouble: Error, failures: number): Promise<void> {
    const pauseMs = backoffMs(failures, PAUSES);
    const fields = { event: 'pull_trouble', err: trouble, failures, pauseMs: Math.round(pauseMs) };
    this.log.warn(fields, `Taking jobs failed; again in ${Math.round(pauseMs)} ms: ${trouble.message}`);
    await sleep(pauseMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    await this.#sortStrays(trouble).catch((error: unknown) =>
      this.log.debug({ err: error }, 'Strays are looked for later'),
    );
  }

  /** Jobs that are locked for this process and not in its hands: nobody else would have them until the lock ends. */
  async #sortStrays(trouble: Error): Promise<void> {
    const unreadable = trouble instanceof SyntaxError;
    for (const stray of await this.queue.strays(this.hand.ids())) {
      if (unreadable) this.intake.putAside(stray, `BullMQ cannot read its options: ${trouble.message}`);
      else await this.queue.giveBack(stray);
    }
  }
}
