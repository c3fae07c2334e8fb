import { Inject, Injectable } from '@nestjs/common';
import { defer, filter, type Observable } from 'rxjs';
import { type Logger } from 'pino';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { ArrivalWait } from './arrival-wait.js';
import { type JobFeed } from './group-collector.js';
import { JobIntake } from './job-intake.js';
import { PullConnections } from './pull-connections.js';
import { type PulledJob } from './pulled-job.js';
import { RequestQueue } from './request-queue.js';

/** Jobs of the model's queue, one at a time. What goes wrong ends the wait, never what was collected: the loop asks for it. */
@Injectable()
export class PullFeed implements JobFeed<PulledJob> {
  readonly #arrivals: ArrivalWait;
  #trouble: Error | undefined;
  #closed = false;

  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly queue: RequestQueue,
    private readonly intake: JobIntake,
    connections: PullConnections,
  ) {
    const [blocked, control] = [connections.for('wait'), connections.for('work')];
    this.#arrivals = new ArrivalWait({ blocked, control, marker: queue.key('marker') });
  }

  next(waitMs: number): Observable<PulledJob> {
    return defer(() => this.#next(waitMs)).pipe(filter(job => job !== undefined));
  }

  /** What ended a wait early, once. */
  trouble(): Error | undefined {
    const found = this.#trouble;
    this.#trouble = undefined;
    return found;
  }

  /** Nothing is given any more; the wait under way ends. */
  close(): void {
    this.#closed = true;
    this.#arrivals.end();
  }

  async #next(waitMs: number): Promise<PulledJob | undefined> {
    const endMs = performance.now() + waitMs;
    try {
      for (;;) {
        const found = await this.#take();
        const leftMs = endMs - performance.now();
        if (found !== undefined || leftMs <= 0 || this.#closed) return found;
        // Told of an arrival that somebody else took: it waits on.
        if (!(await this.#arrivals.within(leftMs))) return undefined;
      }
    } catch (error) {
      this.#trouble = error as Error;
      return undefined;
    }
  }

  /** The next one that can be read; dead letters on the way are put aside. */
  async #take(): Promise<PulledJob | undefined> {
    while (!this.#closed) {
      const job = await this.queue.take();
      if (job === undefined) return undefined;
      const pulled = this.intake.open(job);
      if (pulled) return pulled;
      this.log.trace({ event: 'dead_letter_taken', jobId: job.id }, 'A job that cannot be read');
    }
    return undefined;
  }
}
