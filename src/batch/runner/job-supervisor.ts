import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type JobStore, type LeasedJob } from '../../core/jobs/job.ports.js';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { finalizeDeadlineMs } from '../../core/jobs/finalize-deadline.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { JOB_STORE } from '../../platform/database/database.tokens.js';
import { type TenantShare, tenantToPreempt } from '../../core/jobs/tenant-share.js';
import { isOutage } from '../../platform/storage/storage-problems.js';
import { InputDamaged } from '../job/input-lines.js';
import { JobStop } from '../lease/job-stop.js';
import { JobFolder } from '../job/job-folder.js';
import { type Ending, BatchRunner } from './batch-runner.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { type HandOverReason, JobMetrics } from '../observe/job.metrics.js';
import { JobTraces } from '../observe/job-traces.js';
import { JobLease, LeaseLost } from '../lease/job-lease.js';

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
  readonly #open = new Set<{ work: ClaimedJob; wait: AbortController }>();
  #stopping = false;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(JOB_STORE) private readonly store: JobStore,
    private readonly runner: BatchRunner,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
  ) {}

  get size(): number {
    return this.#open.size;
  }

  get works(): readonly ClaimedJob[] {
    return [...this.#open].map(({ work }) => work);
  }

  /** Sends heartbeats now, so that cancels are seen at once. */
  wake(): void {
    for (const { work } of this.#open) void work.lease.beat();
  }

  /**
   * Hands over one job of the tenant that holds most slots, the one with the most time
   * left, if another tenant waits.
   */
  preemptFor(shares: readonly TenantShare[]): void {
    if (this.works.some(({ stop }) => stop.reason !== undefined)) return;
    const tenant = tenantToPreempt(
      shares,
      new Set(this.works.map(({ lease }) => lease.job.tenant)),
    );
    const [preempted] = [...this.#open]
      .filter(({ work }) => work.lease.job.tenant === tenant)
      .sort((a, b) => b.work.lease.job.expiresAtMs - a.work.lease.job.expiresAtMs);
    if (!preempted) return;
    this.#logger.log(
      { batch: preempted.work.lease.job.id, tenant },
      'batch preempted for another tenant',
    );
    preempted.work.stop.request('preempted');
    preempted.wait.abort();
  }

  /**
   * Hands over every job: lines in flight may finish within the grace period, then
   * leases are released.
   */
  stop(): void {
    this.#stopping = true;
    for (const { work, wait } of this.#open) {
      work.stop.request('shutdown');
      wait.abort();
    }
  }

  /** Never rejects. */
  async supervise(leased: LeasedJob): Promise<Ending> {
    const { id } = leased.job;
    const wait = new AbortController();
    const entry = { wait, work: undefined as unknown as ClaimedJob };
    const lease = new JobLease(this.store, leased, this.settings.batch.leaseMs, {
      onCancel: () => entry.work.stop.request('cancelled'),
      onLost: () => this.#lost(entry.work, wait),
      onError: error => this.#logger.warn({ batch: id, err: error }, 'heartbeat failed'),
    });
    entry.work = this.#work(lease);
    this.#open.add(entry);
    this.metrics.claimed(leased.job);
    const startedMs = performance.now();
    this.#logger.log(
      { batch: id, epoch: leased.epoch, status: leased.job.status },
      'batch claimed',
    );
    try {
      const ended = (): BatchJob | undefined => (lease.hasEnded ? lease.job : undefined);
      const ending = await this.traces.job(
        leased.job,
        () => this.#bounded(entry, lease),
        ended,
      );
      if (ending === 'handed_over') this.metrics.handedOver(reasonOf(entry.work));
      else this.metrics.ended(lease.job, ending, (performance.now() - startedMs) / 1000);
      return ending;
    } finally {
      this.#open.delete(entry);
      await lease
        .release()
        .catch((error: unknown) =>
          this.#logger.warn({ batch: id, err: error }, 'lease was not released'),
        );
    }
  }

  #work(lease: JobLease): ClaimedJob {
    const folder = new JobFolder(join(this.settings.data.dir, 'jobs'), lease.job.id);
    return {
      lease,
      folder,
      stop: new JobStop(),
      writer: `${lease.epoch}-${process.pid}`,
    };
  }

  /** Runs the job; ends it at its finalize deadline when the stores do not recover. */
  async #bounded(
    entry: { work: ClaimedJob; wait: AbortController },
    lease: JobLease,
  ): Promise<Ending> {
    const done = new AbortController();
    const overdue = this.#overdue(entry, lease, done.signal);
    const walk = this.#attempts(entry, lease).finally(() => done.abort());
    const ending = await Promise.race([walk, overdue]);
    return ending ?? walk;
  }

  /** @returns undefined when the job ended by itself */
  async #overdue(
    entry: { work: ClaimedJob; wait: AbortController },
    lease: JobLease,
    done: AbortSignal,
  ): Promise<Ending | undefined> {
    while (!done.aborted) {
      await sleep(CHECK_MS, undefined, { signal: done }).catch(() => undefined);
      const byMs = finalizeDeadlineMs(lease.job, this.settings.batch);
      if (done.aborted || lease.isLost || this.#stopping || Date.now() < byMs) continue;
      const ending = await this.runner.endOverdue(entry.work).catch((error: unknown) => {
        this.#logger.error(
          { batch: lease.job.id, err: error as Error },
          'could not write the end of the overdue batch',
        );
      });
      if (!ending) continue;
      // Work still in flight is harmless: rows of a batch that has ended are not written.
      entry.work.stop.request('lost');
      entry.wait.abort();
      return ending;
    }
    return undefined;
  }

  async #attempts(
    entry: { work: ClaimedJob; wait: AbortController },
    lease: JobLease,
  ): Promise<Ending> {
    for (let failures = 1; ; failures++) {
      const pauseMs = backoffMs(failures, PAUSES);
      try {
        return await this.runner.run(entry.work);
      } catch (error) {
        if (
          error instanceof LeaseLost ||
          lease.isLost ||
          lease.hasEnded ||
          this.#stopping
        )
          return 'handed_over';
        this.traces.trouble(error);
        if (entry.work.problems && !isOutage(error)) return this.#failBare(entry.work);
        const { problems } = entry.work;
        entry.work = { ...this.#work(lease), ...(problems ? { problems } : {}) };
        await this.#handle(error as Error, entry.work, pauseMs).catch(() => undefined);
      }
      await sleep(pauseMs, undefined, { signal: entry.wait.signal }).catch(
        () => undefined,
      );
      if (lease.isLost || this.#stopping || entry.work.stop.reason === 'preempted')
        return 'handed_over';
    }
  }

  /**
   * An outage is waited out. Any other error ends the job with the results that it has.
   */
  async #handle(error: Error, work: ClaimedJob, pauseMs: number): Promise<void> {
    const batch = work.lease.job.id;
    if (error instanceof InputDamaged) {
      this.#logger.error(
        { batch, err: error },
        'the copy of the input is damaged; fetching it again',
      );
      return work.folder.removeInput();
    }
    if (isOutage(error))
      return this.#logger.error(
        { batch, err: error, pauseMs },
        'outage: the batch is retried',
      );
    this.#logger.error({ batch, err: error, pauseMs }, 'the batch fails');
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
      this.#logger.error(
        { batch: lease.job.id, err: error },
        'could not write the failure',
      );
    });
    lease.ended();
    return 'failed';
  }

  #lost(work: ClaimedJob, wait: AbortController): void {
    this.#logger.warn(
      { batch: work.lease.job.id, epoch: work.lease.epoch },
      'lease lost: another processor may hold the batch',
    );
    work.stop.request('lost');
    wait.abort();
  }
}

function reasonOf({ lease, stop }: ClaimedJob): HandOverReason {
  if (lease.isLost) return lease.isLostToOutage ? 'db_transient' : 'lease_lost';
  return stop.reason === 'preempted' ? 'preempted' : 'guard_shutdown';
}
