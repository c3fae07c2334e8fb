import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { urgency } from '../../core/jobs/fair-share.js';
import { type InputLines } from '../job/input-lines.js';
import { type JobClaim } from '../job/result-files.js';
import { type ResultLog } from '../job/result-log.js';
import { type JobStop } from '../lease/job-stop.js';
import {
  type LineDispatcher,
  type LineLane,
  type LineTicket,
  type SendingJob,
} from './line-dispatcher.js';
import { type LineSender } from './line-sender.js';

export interface ExecutionParts {
  readonly claim: JobClaim;
  readonly lanes: readonly LineLane[];
  readonly log: ResultLog;
  readonly input: InputLines;
  readonly stop: JobStop;
  /** False as soon as the lease runs out, also in a process that was suspended. */
  readonly isHeld: () => boolean;
  readonly sender: LineSender;
  readonly dispatcher: LineDispatcher;
  /** How long lines in flight may finish after the stop (D-15). */
  readonly graceMs: () => number;
  /**
   * An error that is not caused by a line, for example of a disk or store. It
   * stops the job.
   */
  readonly onTrouble: (error: Error) => void;
}

/**
 * Sends the lines of one job through the dispatcher until all are done or the job stops.
 */
export class JobExecution implements SendingJob {
  #inFlight = 0;
  /** Aborts all lines in flight. */
  readonly #abort = new AbortController();
  /**
   * One attempt at one line, in this job's trace: the dispatcher calls it when any
   * other line ends.
   */
  readonly send = AsyncLocalStorage.bind((lane: LineLane, ticket: LineTicket) =>
    this.#attempt(lane, ticket),
  );
  #changed: () => void = () => undefined;

  constructor(private readonly parts: ExecutionParts) {}

  get id(): string {
    return this.parts.claim.job.id;
  }

  get lanes(): readonly LineLane[] {
    return this.parts.lanes;
  }

  get maySend(): boolean {
    const { stop, log, isHeld } = this.parts;
    return stop.reason === undefined && !log.isBehind && isHeld();
  }

  get weight(): number {
    const { claim, log } = this.parts;
    const { total } = log.progress.counts;
    const { createdAtMs, expiresAtMs } = claim.job;
    return urgency({
      createdAtMs,
      expiresAtMs,
      nowMs: Date.now(),
      remaining: log.progress.remaining,
      total,
    });
  }

  /** Resolves when no line is in flight: all have a result, or the job stopped. */
  async run(): Promise<void> {
    const { dispatcher, stop } = this.parts;
    const unlisten = stop.listen(() => this.#changed());
    dispatcher.add(this);
    await this.#until(() => stop.reason !== undefined || this.#isDone).finally(() =>
      dispatcher.remove(this),
    );
    await this.#settleInFlight().finally(unlisten);
  }

  async #attempt(lane: LineLane, ticket: LineTicket): Promise<void> {
    const { log, stop, sender, input, claim } = this.parts;
    const { signal } = this.#abort;
    this.#inFlight += 1;
    try {
      const outcome = await sender.attempt({ claim, lane, ticket, input, signal });
      if (outcome.kind === 'result')
        log.append({ index: ticket.index, ...outcome.result });
      else if (stop.reason === undefined)
        lane.retryAt(
          { ...ticket, tried: outcome.tried },
          performance.now() + outcome.afterMs,
        );
    } catch (error) {
      // An aborted line is recorded later, with the lines that were never sent. Other
      // errors are not the line's fault.
      if (!signal.aborted) this.parts.onTrouble(error as Error);
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#changed();
    }
  }

  get #isDone(): boolean {
    return this.#inFlight === 0 && this.lanes.every(lane => lane.isEmpty);
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => (this.#changed = resolve));
  }

  async #settleInFlight(): Promise<void> {
    // A preempted job waits for its lines without a limit.
    const { stop } = this.parts;
    await this.#until(() => this.#inFlight === 0 || stop.reason !== 'preempted');
    const timer = new AbortController();
    const idle = this.#until(
      () => this.#inFlight === 0 || this.parts.stop.reason === 'lost',
    );
    const grace = sleep(this.parts.graceMs(), undefined, { signal: timer.signal }).catch(
      () => undefined,
    );
    await Promise.race([idle, grace]);
    timer.abort();
    this.#abort.abort();
    await this.#until(() => this.#inFlight === 0);
  }
}
