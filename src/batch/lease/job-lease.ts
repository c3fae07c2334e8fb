import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type JobChange, type LeasedJob, type UpdateOutcome } from '../../core/jobs/job.ports.js';
import { type JobClaims } from '../../platform/database/job-claims.js';

/**
 * The lease ended: another processor may hold the job, and nothing more may be written.
 */
export class LeaseLost extends Error {
  constructor(jobId: string) {
    super(`The lease of ${jobId} is lost.`);
    this.name = 'LeaseLost';
  }
}

/**
 * One claimed job. Heartbeats every third of the lease prolong it; every write carries
 * its epoch (D-13). Who takes over the job of a dead processor: `JobClaims`.
 */
export class JobLease {
  readonly epoch: number;
  #job: BatchJob;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  /**
   * Monotonic: setting the clock prolongs no lease, and a suspended process notices that
   * its lease ran out.
   */
  #heldUntil: number;
  #lost = false;
  /** The last heartbeat got no response. */
  #unanswered = false;
  #ended = false;

  constructor(
    private readonly claims: JobClaims,
    leased: LeasedJob,
    private readonly leaseMs: number,
    private readonly events: {
      /** The user asked to cancel. */
      onCancel(): void;
      onLost(): void;
      /** The store did not respond; the lease is still valid. */
      onError(error: Error): void;
    },
  ) {
    this.#job = leased.job;
    this.epoch = leased.epoch;
    this.#heldUntil = performance.now() + leaseMs;
    this.#timer = setInterval(() => void this.beat(), leaseMs / 3);
  }

  /** As last read from the store. */
  get job(): BatchJob {
    return this.#job;
  }

  /** The job ended under this lease. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  get isLost(): boolean {
    if (!this.#lost && !this.#ended && performance.now() > this.#heldUntil) this.#lose();
    return this.#lost;
  }

  /**
   * It ran out because the database did not respond, not because another processor
   * took the job.
   */
  get isLostToOutage(): boolean {
    return this.#lost && this.#unanswered;
  }

  /** @throws LeaseLost */
  assertHeld(): void {
    if (this.isLost) throw new LeaseLost(this.#job.id);
  }

  /** Prolongs the lease and reads a cancel. Never rejects. */
  beat(): Promise<void> {
    return (this.#beating ??= this.#beat().finally(() => (this.#beating = undefined)));
  }

  /** @throws LeaseLost, or the store's error */
  async update(change: JobChange): Promise<Exclude<UpdateOutcome, 'lost'>> {
    this.assertHeld();
    const nowMs = Date.now();
    const outcome = await this.claims.update(this.#job.id, this.epoch, change, nowMs);
    // An update of the counts that was in flight when the job ended.
    if (outcome === 'lost' && this.#ended) return 'written';
    if (outcome === 'lost') this.#lose();
    if (outcome === 'lost') throw new LeaseLost(this.#job.id);
    if (outcome === 'written') this.#job = changed(this.#job, change, nowMs);
    return outcome;
  }

  /** The job ended: there is no lease any more. */
  ended(): void {
    this.#ended = true;
    this.stop();
  }

  /** Releases the job: another processor may continue at once. */
  async release(): Promise<void> {
    this.stop();
    await this.#beating;
    if (!this.#lost && !this.#ended) await this.claims.release(this.#job.id, this.epoch);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #beat(): Promise<void> {
    if (this.isLost || this.#ended) return;
    const sentAt = performance.now();
    try {
      const job = await this.claims.heartbeat(this.#job.id, this.epoch, this.leaseMs);
      this.#unanswered = false;
      if (this.#ended) return;
      if (!job) return this.#lose();
      this.#heldUntil = sentAt + this.leaseMs;
      const cancelled = job.status === 'cancelling' && this.#job.status !== 'cancelling';
      this.#job = job;
      if (cancelled) this.events.onCancel();
    } catch (error) {
      this.#unanswered = true;
      this.events.onError(error as Error);
    }
  }

  #lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.stop();
    this.events.onLost();
  }
}

/** The job with `change`, as the store has it now. */
function changed(job: BatchJob, change: JobChange, nowMs: number): BatchJob {
  const reached =
    change.status === undefined || change.status === job.status ? {} : { [change.status]: nowMs };
  return { ...job, ...change, reachedAtMs: { ...job.reachedAtMs, ...reached } };
}
