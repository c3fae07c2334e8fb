import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { InputLines } from '../job/input-lines.js';
import { type JobPlan } from '../job/job-plan.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { ResultLog } from '../job/result-log.js';
import { LineGrace, type JobStopReason } from '../lease/job-stop.js';
import { TargetGates } from './target-gates.js';
import { JobExecution } from './job-execution.js';
import { LineDispatcher, LineLane } from './line-dispatcher.js';
import { LineSender } from './line-sender.js';
import { LogShipping } from './log-shipping.js';

/** How often the counts in the row, a cached view of the log, are updated. */
const PROGRESS_MS = 1000;
/** Longest delay of a Node timer; completion windows are shorter. */
const MAX_TIMER_MS = 2_147_483_647;

/** Sends the lines of jobs: result log, lanes, deadline, progress. */
@Injectable()
export class ExecuteService implements OnApplicationShutdown {
  readonly #logger = new Logger('BatchExecute');
  readonly #running = new Set<JobExecution>();

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly dispatcher: LineDispatcher,
    private readonly gates: TargetGates,
    private readonly sender: LineSender,
    private readonly grace: LineGrace,
    private readonly shipping: LogShipping,
  ) {}

  onApplicationShutdown(): void {
    this.dispatcher.stop();
  }

  async openLog(work: ClaimedJob, plan: JobPlan): Promise<ResultLog> {
    const { lease, folder } = work;
    await folder.make();
    await this.shipping.restore(work);
    const log = await ResultLog.open(folder.results(), lease.epoch, plan.total);
    const { done, counts } = log.progress;
    if (done.count > 0)
      this.#logger.log(
        { batch: lease.job.id, done: done.count, total: counts.total },
        'resumed',
      );
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

  async withInput<T>(
    { folder }: ClaimedJob,
    use: (input: InputLines) => Promise<T>,
  ): Promise<T> {
    const input = await InputLines.open(folder.input());
    try {
      return await use(input);
    } finally {
      await input.close();
    }
  }

  /**
   * @returns why it stopped; undefined if every line has a result. @throws the error
   *   behind the reason `trouble`
   */
  async run(
    work: ClaimedJob,
    plan: JobPlan,
    log: ResultLog,
  ): Promise<JobStopReason | undefined> {
    const { stop, lease } = work;
    if (lease.job.status === 'cancelling') stop.request('cancelled');
    // A finalizing job had all results before its deadline.
    const untilDeadlineMs =
      lease.job.status === 'finalizing'
        ? MAX_TIMER_MS
        : lease.job.expiresAtMs - Date.now();
    if (untilDeadlineMs <= 0) stop.request('expired');
    await this.withInput(work, async input => {
      const deadline = setTimeout(() => stop.request('expired'), untilDeadlineMs);
      const progress = setInterval(() => this.#writeProgress(work, log), PROGRESS_MS);
      const stopShipping = this.shipping.start(work, log);
      try {
        if (log.progress.remaining > 0) await this.#send(work, plan, log, input);
        // Also after an error: answers are kept. The first error is the one
        // that is reported.
        if (stop.reason !== 'lost')
          await log.flush().catch((error: unknown) => (work.trouble ??= error as Error));
      } finally {
        clearTimeout(deadline);
        clearInterval(progress);
        await stopShipping();
      }
    });
    if (work.trouble) throw work.trouble;
    return log.progress.remaining === 0 && stop.reason === 'expired'
      ? undefined
      : stop.reason;
  }

  async #send(
    work: ClaimedJob,
    plan: JobPlan,
    log: ResultLog,
    input: InputLines,
  ): Promise<void> {
    const { stop, lease } = work;
    const { job } = lease;
    const onTrouble = (error: Error): void => {
      work.trouble ??= error;
      stop.request('trouble');
    };
    const lanes = plan.models.map(
      lines =>
        new LineLane(
          `${job.id} ${lease.epoch}`,
          job.tenant,
          lines,
          this.gates.of(lines.model),
          log.progress.done,
        ),
    );
    const { dispatcher, sender } = this;
    const graceMs = (): number => this.grace.msFor(stop.reason);
    const isHeld = (): boolean => !lease.isLost;
    const execution = new JobExecution({
      claim: { job, epoch: lease.epoch },
      isHeld,
      lanes,
      log,
      input,
      stop,
      sender,
      dispatcher,
      graceMs,
      onTrouble,
    });
    work.running = { log, startedMs: Date.now(), doneAtStart: log.progress.done.count };
    log.listen({ onDurable: () => dispatcher.pump(), onFailure: onTrouble });
    this.#running.add(execution);
    try {
      await execution.run();
    } finally {
      this.#running.delete(execution);
      delete work.running;
    }
  }

  #writeProgress({ lease }: ClaimedJob, log: ResultLog): void {
    for (const execution of this.#running) this.dispatcher.updateWeight(execution);
    const { counts, usage } = log.progress;
    const written = lease.job.counts;
    if (
      lease.isLost ||
      (written.completed === counts.completed && written.failed === counts.failed)
    )
      return;
    // Best effort: the next update or the end of the job repeats it.
    lease.update({ counts, ...(usage ? { usage } : {}) }).catch((error: unknown) => {
      this.#logger.warn({ batch: lease.job.id, err: error }, 'could not write progress');
    });
  }
}
