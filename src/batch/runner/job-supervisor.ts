import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { finalizeDeadlineMs } from '../../core/jobs/finalize-deadline.js';
import { type LeasedJob } from '../../core/jobs/job.ports.js';
import { type TenantShare, tenantToPreempt } from '../../core/jobs/tenant-share.js';
import { Settings } from '../../platform/config/settings.js';
import { JobClaims } from '../../platform/database/job-claims.js';
import { isOutage } from '../../platform/storage/storage-problems.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { InputDamaged } from '../job/input-lines.js';
import { JobFolder } from '../job/job-folder.js';
import { JobLease, LeaseLost } from '../lease/job-lease.js';
import { JobStop } from '../lease/job-stop.js';
import { JobTraces } from '../observe/job-traces.js';
import { JobMetrics } from '../observe/job.metrics.js';
import { type Ending, BatchRunner } from './batch-runner.js';

const PAUSES = { firstMs: 1000, longestMs: 60_000 };
/** How often the finalize deadline is checked. */
const CHECK_MS = 250;

/**
 * Supervises claimed jobs until they end or are handed over: keeps leases, retries after
 * outages, fails jobs on defects.
 */
@Injectable()
export class JobSupervisor {
  readonly #logger = new Logger('BatchLease');
  readonly #open = new Set<ClaimedJob>();
  #stopping = false;

  constructor(
    private readonly settings: Settings,
    private readonly claims: JobClaims,
    private readonly runner: BatchRunner,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
  ) {}

  get size(): number {
    return this.#open.size;
  }

  get works(): readonly ClaimedJob[] {
    return [...this.#open];
  }

  /** Undefined: no job waits for a processor. */
  claim(owner: string): Promise<LeasedJob | undefined> {
    return this.claims.claim(owner, this.settings.batch.leaseMs);
  }

  /** Sends heartbeats now, so that cancels are seen at once. */
  wake(): void {
    for (const { lease } of this.#open) void lease.beat();
  }

  /**
   * Hands over one job of the tenant that holds most slots, the one with the most time
   * left, if another tenant waits.
   */
  preemptFor(shares: readonly TenantShare[]): void {
    const { works } = this;
    if (works.some(({ stop }) => stop.reason !== undefined)) return;
    const tenants = new Set(works.map(({ lease }) => lease.job.tenant));
    const tenant = tenantToPreempt(shares, tenants);
    const [preempted] = works
      .filter(({ lease }) => lease.job.tenant === tenant)
      .sort((a, b) => b.lease.job.expiresAtMs - a.lease.job.expiresAtMs);
    if (!preempted) return;
    this.#logger.log(
      { batch: preempted.lease.job.id, tenant },
      'batch preempted for another tenant',
    );
    preempted.stop.request('preempted');
  }

  /**
   * Hands over every job: lines in flight may finish within the grace period, then
   * leases are released.
   */
  stop(): void {
    this.#stopping = true;
    for (const { stop } of this.#open) stop.request('shutdown');
  }

  /** Never rejects. */
  async supervise(leased: LeasedJob): Promise<Ending> {
    const { job, epoch } = leased;
    const batch = job.id;
    const work = this.#claimed(leased);
    const { lease } = work;
    this.#open.add(work);
    this.metrics.claimed(job);
    const startedMs = performance.now();
    this.#logger.log({ batch, epoch, status: job.status }, 'batch claimed');
    try {
      const ended = (): BatchJob | undefined => (lease.hasEnded ? lease.job : undefined);
      const ending = await this.traces.job(job, () => this.#bounded(work), ended);
      if (ending === 'handed_over') this.metrics.handedOver(reasonOf(work));
      else this.metrics.ended(lease.job, ending, (performance.now() - startedMs) / 1000);
      return ending;
    } finally {
      this.#open.delete(work);
      await lease
        .release()
        .catch((error: unknown) =>
          this.#logger.warn({ batch, err: error }, 'lease was not released'),
        );
    }
  }

  #claimed(leased: LeasedJob): ClaimedJob {
    const { settings } = this;
    const { job, epoch } = leased;
    const work: ClaimedJob = {
      lease: new JobLease(this.claims, leased, settings.batch.leaseMs, {
        onCancel: () => work.stop.request('cancelled'),
        onLost: () => this.#lost(work),
        onError: error => this.#logger.warn({ batch: job.id, err: error }, 'heartbeat failed'),
      }),
      folder: new JobFolder(join(settings.data.dir, 'jobs'), job.id),
      stop: new JobStop(),
      writer: `${epoch}-${process.pid}`,
    };
    return work;
  }

  /** Runs the job; ends it at its finalize deadline when the stores do not recover. */
  async #bounded(work: ClaimedJob): Promise<Ending> {
    const done = new AbortController();
    const attempts = this.#attempts(work).finally(() => done.abort());
    const ending = await Promise.race([attempts, this.#overdue(work, done.signal)]);
    return ending ?? attempts;
  }

  /** @returns undefined when the job ended by itself */
  async #overdue(work: ClaimedJob, done: AbortSignal): Promise<Ending | undefined> {
    const { lease } = work;
    while (!done.aborted) {
      await pause(CHECK_MS, done);
      const byMs = finalizeDeadlineMs(lease.job, this.settings.batch);
      if (done.aborted || lease.isLost || this.#stopping || Date.now() < byMs) continue;
      const ending = await this.runner.endOverdue(work).catch((error: unknown) => {
        this.#logger.error(
          { batch: lease.job.id, err: error as Error },
          'could not write the end of the overdue batch',
        );
      });
      if (!ending) continue;
      // Work still in flight is harmless: rows of a batch that has ended are not written.
      work.stop.request('lost');
      return ending;
    }
    return undefined;
  }

  async #attempts(work: ClaimedJob): Promise<Ending> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.runner.run(work);
      } catch (error) {
        if (error instanceof LeaseLost || work.lease.hasEnded || this.#mustLeave(work))
          return 'handed_over';
        this.traces.trouble(error);
        if (work.problems && !isOutage(error)) return this.#failBare(work);
        const pauseMs = backoffMs(failures, PAUSES);
        work.stop = new JobStop();
        await this.#handle(error as Error, work, pauseMs).catch(() => undefined);
        await work.stop.pause(pauseMs);
      }
      if (this.#mustLeave(work)) return 'handed_over';
    }
  }

  #mustLeave({ lease, stop }: ClaimedJob): boolean {
    return lease.isLost || this.#stopping || stop.reason === 'preempted';
  }

  /**
   * An outage is waited out. Any other error ends the job with the results that it has.
   */
  async #handle(error: Error, work: ClaimedJob, pauseMs: number): Promise<void> {
    const batch = work.lease.job.id;
    const say = (fields: object, what: string): void =>
      this.#logger.error({ batch, err: error, ...fields }, what);
    if (error instanceof InputDamaged) {
      say({}, 'the copy of the input is damaged; fetching it again');
      return work.folder.removeInput();
    }
    if (isOutage(error)) return say({ pauseMs }, 'outage: the batch is retried');
    say({ pauseMs }, 'the batch fails');
    work.problems = [
      {
        code: 'internal_error',
        message: `Internal error (${error.name}); see the log of the batch processor.`,
        param: null,
        line: null,
      },
    ];
    work.stop.request('failed');
  }

  /**
   * Ends the job without result files: even storing partial results failed. The work
   * folder stays until the next start.
   */
  async #failBare({ lease, problems = [] }: ClaimedJob): Promise<Ending> {
    await lease.update({ status: 'failed', problems }).catch((error: unknown) => {
      this.#logger.error({ batch: lease.job.id, err: error }, 'could not write the failure');
    });
    lease.ended();
    return 'failed';
  }

  #lost({ lease, stop }: ClaimedJob): void {
    this.#logger.warn(
      { batch: lease.job.id, epoch: lease.epoch },
      'lease lost: another processor may hold the batch',
    );
    stop.request('lost');
  }
}

function reasonOf({ lease, stop }: ClaimedJob) {
  if (lease.isLost) return lease.isLostToOutage ? 'db_transient' : 'lease_lost';
  return stop.reason === 'preempted' ? 'preempted' : 'guard_shutdown';
}
