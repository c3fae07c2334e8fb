import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger } from '@nestjs/common';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { urgency } from '../../core/jobs/fair-share.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type ClaimedJob, type JobPlan } from '../job/claimed-job.js';
import { InputLines } from '../job/input-lines.js';
import { ResultLog } from '../job/result-log.js';
import { LineGrace, type JobStop } from '../lease/job-stop.js';
import { LineDispatcher, type SendingJob } from './line-dispatcher.js';
import { LineLane, type LineTicket } from './line-lane.js';
import { LineSender } from './line-sender.js';
import { LogShipping } from './log-shipping.js';
import { TargetResolver } from './target-resolver.js';

/**
 * The lines of one job, from the first that is sent until none is in flight.
 *
 * Who writes what: `LineDispatcher` says which line is next and calls `send`; each attempt
 * counts itself in and out, and appends its result to the log, or puts its line back into
 * its lane. No other class writes the log while the job executes.
 * Who ends it: all lines have results; or the stop of the job (cancel, expiry, preemption, a
 * lost lease, `fail`), after which `settle` waits for what is in flight and then aborts it.
 */
class JobExecution implements SendingJob {
  #inFlight = 0;
  readonly #stop: JobStop;
  /** Aborts all lines in flight. */
  readonly #abort = new AbortController();
  /** In this job's trace: the dispatcher calls it when any other line ends. */
  readonly #inTrace = AsyncLocalStorage.snapshot();
  #changed: () => void = () => undefined;
  #trouble: Error | undefined;

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

  /** The error behind the stop reason `trouble`. */
  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** Stops the job for an error that no line caused, for example of a disk or store. */
  fail(error: Error): void {
    this.#trouble ??= error;
    this.#stop.request('trouble');
  }

  get maySend(): boolean {
    return this.#stop.reason === undefined && !this.log.isBehind && !this.work.lease.isLost;
  }

  get weight(): number {
    const { total, remaining } = this.log.progress;
    const { createdAtMs, expiresAtMs } = this.work.lease.job;
    const nowMs = Date.now();
    return urgency({ createdAtMs, expiresAtMs, nowMs, remaining, total });
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
    await Promise.race([idle, pause(graceMs(), timer.signal)]);
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
      if (outcome.kind !== 'again') this.log.append({ index: ticket.index, ...outcome });
      else if (this.#stop.reason === undefined)
        lane.retryAt({ ...ticket, tried: outcome.tried }, performance.now() + outcome.afterMs);
    } catch (error) {
      // An aborted line is recorded later, with the lines that were never sent. Other
      // errors are not the line's fault.
      if (!signal.aborted) this.fail(error as Error);
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#changed();
    }
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => (this.#changed = resolve));
  }
}

/** How often the counts in the row, a cached view of the log, are updated. */
const PROGRESS_MS = 1000;

/** Longest delay of a Node timer; completion windows are shorter. */
const MAX_TIMER_MS = 2_147_483_647;

/** Sends the lines of jobs: result log, lanes, deadline, progress. */
@Injectable()
export class ExecuteService {
  readonly #logger = new Logger('BatchExecute');

  constructor(
    private readonly dispatcher: LineDispatcher,
    private readonly targets: TargetResolver,
    private readonly sender: LineSender,
    private readonly grace: LineGrace,
    private readonly shipping: LogShipping,
    private readonly models: ModelList,
  ) {}

  async openLog(work: ClaimedJob, plan: JobPlan): Promise<ResultLog> {
    const { lease, folder } = work;
    await folder.make();
    await this.shipping.restore(work);
    const log = await ResultLog.open(folder.results, lease.epoch, plan.total);
    const { done, total } = log.progress;
    if (done > 0) this.#logger.log({ batch: lease.job.id, done, total }, 'resumed');
    return log;
  }

  /**
   * Removes the local state of an ended job. What cannot be removed now is removed at
   * the next start.
   */
  async removeFolder({ lease, folder }: ClaimedJob): Promise<void> {
    try {
      await folder.remove();
      await this.shipping.remove(lease.job.id);
    } catch (error) {
      this.#logger.warn(
        { batch: lease.job.id, err: error as Error },
        'could not remove the work folder',
      );
    }
  }

  /**
   * @returns why it stopped; undefined if every line has a result. @throws the error
   *   behind the reason `trouble`
   */
  async run(work: ClaimedJob, plan: JobPlan, log: ResultLog): Promise<JobStop['reason']> {
    const { stop, lease } = work;
    if (lease.job.status === 'cancelling') stop.request('cancelled');
    // A finalizing job had all results before its deadline.
    const untilDeadlineMs =
      lease.job.status === 'finalizing'
        ? MAX_TIMER_MS
        : Math.min(MAX_TIMER_MS, lease.job.expiresAtMs - Date.now());
    if (untilDeadlineMs <= 0) stop.request('expired');
    using _deadline = setTimeout(() => stop.request('expired'), untilDeadlineMs);
    using _progress = setInterval(() => this.#writeProgress(work, log), PROGRESS_MS);
    await using _shipping = this.shipping.start(work, log);
    const trouble = log.progress.remaining > 0 ? await this.#send(work, plan, log) : undefined;
    // Also after an error: answers are kept. The first error is the one that is reported.
    if (stop.reason !== 'lost')
      await log.flush().catch((error: unknown) => {
        throw trouble ?? error;
      });
    if (trouble) throw trouble;
    return log.progress.remaining === 0 && stop.reason === 'expired' ? undefined : stop.reason;
  }

  /** @returns the error behind the stop reason `trouble` */
  async #send(work: ClaimedJob, plan: JobPlan, log: ResultLog): Promise<Error | undefined> {
    await using input = await InputLines.open(work.folder.input);
    const { dispatcher, targets } = this;
    const { job, epoch } = work.lease;
    const { progress } = log;
    const claim = `${job.id} ${epoch}`;
    const lanes = plan.models.map(
      lines => new LineLane(claim, job.tenant, lines, targets.gateOf(lines.model), progress),
    );
    for (const [at, lane] of lanes.entries())
      lane.goAfter(lanes.slice(0, at).filter(({ model }) => this.#shareDevice(model, lane.model)));
    const execution = new JobExecution(work, lanes, log, input, this.sender);
    work.running = { log, startedMs: Date.now(), doneAtStart: progress.done };
    log.listen({
      onDurable: () => dispatcher.pump(),
      onFailure: error => execution.fail(error),
    });
    using _weigh = setInterval(() => dispatcher.updateWeight(execution), PROGRESS_MS);
    try {
      dispatcher.add(execution);
      await execution.sent();
      dispatcher.remove(execution);
      await execution.settle(() => this.grace.msFor(work.stop.reason));
      return execution.trouble;
    } finally {
      delete work.running;
    }
  }

  /** One might have to leave for the other: a job sends the lines of one model first. */
  #shareDevice(one: string, other: string): boolean {
    const [here, there] = [one, other].map(name => this.#model(name)?.device ?? []);
    return here!.some(({ id }) => there!.some(device => device.id === id));
  }

  #model(name: string): ModelSpec | undefined {
    return this.models.current.find(({ id, aliases }) => id === name || aliases.includes(name));
  }

  #writeProgress({ lease }: ClaimedJob, log: ResultLog): void {
    const { counts, usage } = log.progress;
    const written = lease.job.counts;
    if (
      lease.isLost ||
      (written.completed === counts.completed && written.failed === counts.failed)
    )
      return;
    // Best effort: the next update or the end of the job repeats it.
    lease.update({ counts, usage }).catch((error: unknown) => {
      this.#logger.warn({ batch: lease.job.id, err: error }, 'could not write progress');
    });
  }
}
