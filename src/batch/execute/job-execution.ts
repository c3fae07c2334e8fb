import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { urgency } from '../../core/jobs/fair-share.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { type InputLines } from '../job/input-lines.js';
import { type ResultLog } from '../job/result-log.js';
import { type JobStop } from '../lease/job-stop.js';
import { type LineLane, type LineTicket, type SendingJob } from './line-dispatcher.js';
import { type LineSender } from './line-sender.js';

/** Stops a job for an error that no line caused, for example of a disk or store. */
export function haveTrouble(work: ClaimedJob, error: Error): void {
  work.trouble ??= error;
  work.stop.request('trouble');
}

/** The lines of one job, from the first that is sent until none is in flight. */
export class JobExecution implements SendingJob {
  #inFlight = 0;
  readonly #stop: JobStop;
  /** Aborts all lines in flight. */
  readonly #abort = new AbortController();
  /** In this job's trace: the dispatcher calls it when any other line ends. */
  readonly #inTrace = AsyncLocalStorage.snapshot();
  #changed: () => void = () => undefined;

  constructor(
    private readonly work: ClaimedJob,
    readonly lanes: readonly LineLane[],
    private readonly log: ResultLog,
    private readonly input: InputLines,
    private readonly sender: LineSender,
  ) {
    this.#stop = work.stop;
    this.#stop.listen(() => this.#changed());
  }

  get maySend(): boolean {
    return (
      this.#stop.reason === undefined && !this.log.isBehind && !this.work.lease.isLost
    );
  }

  get weight(): number {
    const { done, remaining } = this.log.progress;
    const { createdAtMs, expiresAtMs } = this.work.lease.job;
    const nowMs = Date.now();
    return urgency({ createdAtMs, expiresAtMs, nowMs, remaining, total: done.size });
  }

  send(lane: LineLane, ticket: LineTicket): Promise<void> {
    return this.#inTrace(() => this.#attempt(lane, ticket));
  }

  /** Resolves when all lines have a result, or the job stops. */
  sent(): Promise<void> {
    return this.#until(
      () =>
        this.#stop.reason !== undefined ||
        (this.#inFlight === 0 && this.lanes.every(lane => lane.isEmpty)),
    );
  }

  /**
   * Resolves when no line is in flight. They may finish within the grace period (D-15);
   * those of a preempted job without a limit.
   */
  async settle(graceMs: () => number): Promise<void> {
    await this.#until(() => this.#inFlight === 0 || this.#stop.reason !== 'preempted');
    const timer = new AbortController();
    const idle = this.#until(() => this.#inFlight === 0 || this.#stop.reason === 'lost');
    const grace = sleep(graceMs(), undefined, { signal: timer.signal }).catch(
      () => undefined,
    );
    await Promise.race([idle, grace]);
    timer.abort();
    this.#abort.abort();
    await this.#until(() => this.#inFlight === 0);
  }

  async #attempt(lane: LineLane, ticket: LineTicket): Promise<void> {
    const { signal } = this.#abort;
    const claim = this.work.lease;
    this.#inFlight += 1;
    try {
      const { input } = this;
      const outcome = await this.sender.attempt({ claim, lane, ticket, input, signal });
      if (outcome.kind === 'result')
        this.log.append({ index: ticket.index, ...outcome.result });
      else if (this.#stop.reason === undefined)
        lane.retryAt(
          { ...ticket, tried: outcome.tried },
          performance.now() + outcome.afterMs,
        );
    } catch (error) {
      // An aborted line is recorded later, with the lines that were never sent. Other
      // errors are not the line's fault.
      if (!signal.aborted) haveTrouble(this.work, error as Error);
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#changed();
    }
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => (this.#changed = resolve));
  }
}
