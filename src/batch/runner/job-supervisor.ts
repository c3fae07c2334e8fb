import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type JobStore, type LeasedJob } from '../../core/jobs/job.ports.js';
import { backoffMs } from '../../core/shared/backoff.js';
import { endsByMs } from '../../core/jobs/finalize-bound.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { JOB_STORE } from '../../platform/database/database.tokens.js';
import { type TenantShare, whoMakesRoom } from '../../core/jobs/tenant-share.js';
import { isOutage } from '../../platform/storage/outage.js';
import { InputDamaged } from '../job/input-lines.js';
import { JobStop } from '../lease/job-stop.js';
import { JobFolder } from '../job/job-folder.js';
import { type Ending, JobRunner } from './job-runner.js';
import { type JobWork } from '../job/job-work.js';
import { type HandOverReason, JobMetrics } from '../observe/job.metrics.js';
import { JobTraces } from '../observe/job-traces.js';
import { JobLease, LeaseLost } from '../lease/job-lease.js';

const PAUSES = { firstMs: 1000, longestMs: 60_000 };
/** How often a batch that stores its results is looked at. */
const LOOK_MS = 250;

/** One claimed job from claim to end or hand-over: the lease kept, outages waited out, mistakes turned into a failed job. */
@Injectable()
export class JobSupervisor {
  readonly #logger = new Logger('BatchLease');
  readonly #open = new Set<{ work: JobWork; patience: AbortController }>();
  #stopping = false;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(JOB_STORE) private readonly store: JobStore,
    private readonly runner: JobRunner,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
  ) {}

  get size(): number {
    return this.#open.size;
  }

  get works(): readonly JobWork[] {
    return [...this.#open].map(({ work }) => work);
  }

  /** Cancels are learnt at once instead of with the next heartbeat. */
  wake(): void {
    for (const { work } of this.#open) void work.lease.beat();
  }

  /** A tenant without room waits: the job with the most time left of the one that has most is handed over, to be claimed again. */
  makeRoom(shares: readonly TenantShare[]): void {
    if (this.works.some(({ stop }) => stop.reason !== undefined)) return;
    const tenant = whoMakesRoom(shares, new Set(this.works.map(({ lease }) => lease.job.tenant)));
    const [patient] = [...this.#open]
      .filter(({ work }) => work.lease.job.tenant === tenant)
      .sort((a, b) => b.work.lease.job.expiresAtMs - a.work.lease.job.expiresAtMs);
    if (!patient) return;
    this.#logger.log({ batch: patient.work.lease.job.id, tenant }, 'batch gives its slot to another tenant');
    patient.work.stop.request('preempted');
    patient.patience.abort();
  }

  /** Every open job hands over: lines in flight may finish within the grace, then leases are released. */
  stop(): void {
    this.#stopping = true;
    for (const { work, patience } of this.#open) {
      work.stop.request('shutdown');
      patience.abort();
    }
  }

  /** Never rejects. */
  async take(leased: LeasedJob): Promise<Ending> {
    const { id } = leased.job;
    const patience = new AbortController();
    const entry = { patience, work: undefined as unknown as JobWork };
    const lease = new JobLease(this.store, leased, this.settings.batch.leaseMs, {
      onCancel: () => entry.work.stop.request('cancelled'),
      onLost: () => this.#lost(entry.work, patience),
      onTrouble: error => this.#logger.warn({ batch: id, err: error }, 'the heartbeat was not answered'),
    });
    entry.work = this.#work(lease);
    this.#open.add(entry);
    this.metrics.claimed(leased.job);
    const startedMs = performance.now();
    this.#logger.log({ batch: id, epoch: leased.epoch, status: leased.job.status }, 'batch claimed');
    try {
      const ended = (): BatchJob | undefined => (lease.hasEnded ? lease.job : undefined);
      const ending = await this.traces.job(leased.job, () => this.#bounded(entry, lease), ended);
      if (ending === 'handed_over') this.metrics.handedOver(reasonOf(entry.work));
      else this.metrics.ended(lease.job, ending, (performance.now() - startedMs) / 1000);
      return ending;
    } finally {
      this.#open.delete(entry);
      await lease
        .release()
        .catch((error: unknown) => this.#logger.warn({ batch: id, err: error }, 'lease not released'));
    }
  }

  #work(lease: JobLease): JobWork {
    const folder = new JobFolder(join(this.settings.data.dir, 'jobs'), lease.job.id);
    return { lease, folder, stop: new JobStop(), writer: `${lease.epoch}-${process.pid}` };
  }

  /** The walk, or its end when the stores that it needs for that do not return. */
  async #bounded(entry: { work: JobWork; patience: AbortController }, lease: JobLease): Promise<Ending> {
    const done = new AbortController();
    const overdue = this.#overdue(entry, lease, done.signal);
    const walk = this.#attempts(entry, lease).finally(() => done.abort());
    const ending = await Promise.race([walk, overdue]);
    return ending ?? walk;
  }

  /** @returns undefined when the walk ended by itself */
  async #overdue(
    entry: { work: JobWork; patience: AbortController },
    lease: JobLease,
    done: AbortSignal,
  ): Promise<Ending | undefined> {
    while (!done.aborted) {
      await sleep(LOOK_MS, undefined, { signal: done }).catch(() => undefined);
      const byMs = endsByMs(lease.job, this.settings.batch);
      if (done.aborted || lease.isLost || this.#stopping || Date.now() < byMs) continue;
      const ending = await this.runner.endOverdue(entry.work).catch((error: unknown) => {
        this.#logger.error({ batch: lease.job.id, err: error as Error }, 'the overdue end was not written');
      });
      if (!ending) continue;
      // What is still under way may go on: rows of a batch that has ended are not written.
      entry.work.stop.request('lost');
      entry.patience.abort();
      return ending;
    }
    return undefined;
  }

  async #attempts(entry: { work: JobWork; patience: AbortController }, lease: JobLease): Promise<Ending> {
    for (let failures = 1; ; failures++) {
      const pauseMs = backoffMs(failures, PAUSES);
      try {
        return await this.runner.run(entry.work);
      } catch (error) {
        if (error instanceof LeaseLost || lease.isLost || lease.hasEnded || this.#stopping) return 'handed_over';
        this.traces.trouble(error);
        if (entry.work.problems && !isOutage(error)) return this.#failBare(entry.work);
        const { problems } = entry.work;
        entry.work = { ...this.#work(lease), ...(problems ? { problems } : {}) };
        await this.#judge(error as Error, entry.work, pauseMs).catch(() => undefined);
      }
      await sleep(pauseMs, undefined, { signal: entry.patience.signal }).catch(() => undefined);
      if (lease.isLost || this.#stopping || entry.work.stop.reason === 'preempted') return 'handed_over';
    }
  }

  /** An outage passes; a mistake of ours ends the job, with all results that it has. */
  async #judge(error: Error, work: JobWork, pauseMs: number): Promise<void> {
    const batch = work.lease.job.id;
    if (error instanceof InputDamaged) {
      this.#logger.error({ batch, err: error }, 'the copy of the input is damaged; it is fetched again');
      return work.folder.forgetInput();
    }
    if (isOutage(error))
      return this.#logger.error({ batch, err: error, pauseMs }, 'the batch waits for an outage to pass');
    this.#logger.error({ batch, err: error, pauseMs }, 'the batch fails');
    work.problems = [
      {
        code: 'internal_error',
        message: `The server made a mistake (${error.name}); its log tells it.`,
        param: null,
        line: null,
      },
    ];
    work.stop.request('failed');
  }

  /** Not even the end with partial results succeeds: the reason is told, and the work folder stays until the next start. */
  async #failBare({ lease, problems = [] }: JobWork): Promise<Ending> {
    await lease.update({ status: 'failed', problems }).catch((error: unknown) => {
      this.#logger.error({ batch: lease.job.id, err: error }, 'the failure was not written');
    });
    lease.ended();
    return 'failed';
  }

  #lost(work: JobWork, patience: AbortController): void {
    this.#logger.warn(
      { batch: work.lease.job.id, epoch: work.lease.epoch },
      'the lease is lost; another processor has the batch',
    );
    work.stop.request('lost');
    patience.abort();
  }
}

function reasonOf({ lease, stop }: JobWork): HandOverReason {
  if (lease.isLost) return lease.isLostToOutage ? 'db_transient' : 'lease_lost';
  return stop.reason === 'preempted' ? 'preempted' : 'guard_shutdown';
}
