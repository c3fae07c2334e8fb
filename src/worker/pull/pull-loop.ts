import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type PulledJob } from '@switchyard/shared-queue/worker/taken-job.js';
import { type Logger } from 'pino';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullReadiness } from '../lifecycle/worker-state.js';
import { collectGroup } from './group-collector.js';
import { HeldJobs } from './held-jobs.js';
import { PullFeed } from './pull-feed.js';

const PROCESS_CLOCK = { nowMs: () => performance.now() };
const PAUSES = { firstMs: 100, longestMs: 2000 };

/**
 * The loop of a pull worker: wait for room, collect a group, run it, repeat. An
 * error in a round is logged, and the next round begins after a pause: the loop ends
 * only by `stop`.
 */
@Injectable()
export class PullLoop {
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #ended: Promise<void> | undefined;

  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly feed: PullFeed,
    readonly held: HeldJobs,
    private readonly queue: RequestQueue,
    private readonly readiness: PullReadiness,
  ) {}

  start(): void {
    if (!this.#stopped.signal.aborted) this.#running ??= this.#run();
  }

  /** Takes no jobs until it is called with false; those that are held finish. */
  drain(drained: boolean): void {
    this.held.drained = drained;
    if (drained) this.feed.interrupt();
    this.log.info(
      { event: 'pull_drained', drained },
      drained ? 'Drained by an operator' : 'Resumed by an operator',
    );
  }

  /**
   * Takes no more jobs; collected jobs that have not begun are returned to the queue.
   * Resolves when the loop has ended and no job is held.
   */
  stop(): Promise<void> {
    return (this.#ended ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#stopped.abort();
    this.feed.close();
    await this.#running;
    await this.feed.settled();
    await this.held.empty();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for (let failures = 0; !signal.aborted;) {
      const error = await this.#round().catch((caught: unknown) => caught as Error);
      this.readiness.report('loop', error === undefined);
      if (error === undefined) failures = 0;
      else if (!signal.aborted) await this.#recover(error, ++failures);
    }
    this.readiness.report('loop', false);
  }

  /** Returns the error of this round. */
  async #round(): Promise<Error | undefined> {
    const { signal } = this.#stopped;
    await this.held.room(signal);
    if (signal.aborted) return undefined;
    const { feed, held } = this;
    const group = await collectGroup({
      feed,
      rules: held.rules(),
      device: () => held.outlook(),
      // It does not wait for stragglers (D-02). A job without a class counts as urgent.
      hurried: ({ job }) => job.priority < QueueJobClass.BATCH,
      clock: PROCESS_CLOCK,
    });
    if (group) await this.#dispatch(group.jobs, group.waitedMs);
    return group?.error;
  }

  async #dispatch(jobs: readonly PulledJob[], waitedMs: number): Promise<void> {
    const refusal = this.#stopped.signal.aborted
      ? 'the worker is shutting down'
      : this.held.refusal;
    if (refusal !== undefined) return this.held.giveBack(jobs, refusal);
    const maxSize = this.held.rules().maxSize;
    const fields = {
      event: 'batch_collected',
      size: jobs.length,
      maxSize,
      waitedMs: Math.round(waitedMs),
    };
    this.log.info(fields, `Batch collected: ${jobs.length}/${maxSize} items`);
    await this.held.begin(jobs, { id: randomUUID(), size: jobs.length, waitedMs });
  }

  async #recover(error: Error, failures: number): Promise<void> {
    const pauseMs = backoffMs(failures, PAUSES);
    const fields = {
      event: 'pull_trouble',
      err: error,
      failures,
      pauseMs: Math.round(pauseMs),
    };
    this.log.warn(
      fields,
      `Taking jobs failed; again in ${Math.round(pauseMs)} ms: ${error.message}`,
    );
    await pause(pauseMs, this.#stopped.signal);
    await this.#returnStrays(error).catch((caught: unknown) =>
      this.log.debug({ err: caught }, 'Stray jobs are looked for later'),
    );
  }

  /**
   * Jobs that are locked by this process but not held by it: no other worker could take
   * them until the lock expires.
   */
  async #returnStrays(error: Error): Promise<void> {
    const unreadable = error instanceof SyntaxError;
    for (const stray of await this.queue.strays(this.held.ids())) {
      if (unreadable) this.feed.putAside(stray, `BullMQ cannot read its options: ${error.message}`);
      else await this.queue.giveBack(stray);
    }
  }
}
