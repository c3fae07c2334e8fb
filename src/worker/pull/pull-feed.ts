import { Inject, Injectable } from '@nestjs/common';
import { type Redis } from 'ioredis';
import { type Logger } from 'pino';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { JobIntake } from './job-intake.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';
import { type PulledJob } from './taken-job.js';

/** How late Redis may end a wait before the connection counts as dead. */
const OVERDUE_MS = 2000;

/**
 * Jobs of the model's queue, one at a time. It waits by `BZPOPMIN` on BullMQ's marker
 * key, on a connection of its own, so that nothing is polled. Redis checks its timeouts
 * ten times a second, so short waits and abandoned ones are ended by `CLIENT UNBLOCK`.
 * After an arrival it must take from the queue: the marker is gone, and taking a job
 * restores it. An error ends the wait but keeps what was collected; the loop asks for it
 * (`takeError`).
 */
@Injectable()
export class PullFeed {
  readonly #blocked: Redis;
  readonly #control: Redis;
  #clientId: number | undefined;
  #isWaiting = false;
  #error: Error | undefined;
  #closed = false;

  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly queue: RequestQueue,
    private readonly intake: JobIntake,
    connections: PullConnections,
  ) {
    this.#control = connections.for('work');
    this.#blocked = connections.for('wait');
    this.#blocked.on('ready', () => void this.#readClientId());
    this.#blocked.on('close', () => (this.#clientId = undefined));
    if (this.#blocked.status === 'ready') void this.#readClientId();
  }

  async next(waitMs: number): Promise<PulledJob | undefined> {
    const endMs = performance.now() + waitMs;
    try {
      for (;;) {
        const found = await this.#take();
        const leftMs = endMs - performance.now();
        if (found !== undefined || leftMs <= 0 || this.#closed) return found;
        // Another worker may have taken the job: wait on.
        if (!(await this.#arrivalWithin(leftMs))) return undefined;
      }
    } catch (error) {
      this.#error = error as Error;
      return undefined;
    }
  }

  /** The error that ended a wait early; returned once. */
  takeError(): Error | undefined {
    const found = this.#error;
    this.#error = undefined;
    return found;
  }

  /** The current wait ends as if no job had come. */
  interrupt(): void {
    if (!this.#isWaiting || this.#clientId === undefined) return;
    this.#control
      .call('CLIENT', 'UNBLOCK', String(this.#clientId), 'TIMEOUT')
      .catch(() => undefined);
  }

  /** No more jobs; the current wait ends. */
  close(): void {
    this.#closed = true;
    this.interrupt();
  }

  /** True when a job arrived. @throws when the connection broke */
  async #arrivalWithin(waitMs: number): Promise<boolean> {
    this.#isWaiting = true;
    const short = setTimeout(() => this.interrupt(), waitMs);
    // A connection that broke silently would wait for ever.
    const overdue = setTimeout(() => this.#blocked.disconnect(true), waitMs + OVERDUE_MS);
    try {
      const seconds = Math.max(0.001, waitMs / 1000);
      const arrived = await this.#blocked.bzpopmin(this.queue.key('marker'), seconds);
      return arrived !== null;
    } finally {
      this.#isWaiting = false;
      clearTimeout(short);
      clearTimeout(overdue);
    }
  }

  async #readClientId(): Promise<void> {
    this.#clientId = await this.#blocked.client('ID').catch(() => undefined);
  }

  /** The next job that can be read; others become dead letters. */
  async #take(): Promise<PulledJob | undefined> {
    while (!this.#closed) {
      const job = await this.queue.take();
      if (job === undefined) return undefined;
      const pulled = this.intake.open(job);
      if (pulled) return pulled;
      this.log.trace(
        { event: 'dead_letter_taken', jobId: job.id },
        'A job that cannot be read',
      );
    }
    return undefined;
  }
}
