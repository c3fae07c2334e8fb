import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { type JobStore } from '../../core/jobs/job.ports.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { JOB_STORE } from '../../platform/database/database.tokens.js';
import { JobSupervisor } from './job-supervisor.js';

/** Claims jobs while a slot is free: when woken, when a job ends, and every `batch.poll_ms`. */
@Injectable()
export class ClaimLoop {
  readonly #logger = new Logger('BatchLease');
  readonly #owner = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  readonly #taken = new Set<Promise<unknown>>();
  #alarm = new AbortController();
  #running: Promise<void> | undefined;
  #stopping = false;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(JOB_STORE) private readonly store: JobStore,
    private readonly supervisor: JobSupervisor,
  ) {}

  start(): void {
    this.#running ??= this.#run();
  }

  /** There may be a new job or a cancel. */
  wake(): void {
    this.#alarm.abort();
    this.supervisor.wake();
  }

  /** Stops claiming and waits until every job is handed over. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.supervisor.stop();
    this.#alarm.abort();
    await this.#running;
    await Promise.all(this.#taken);
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#alarm = new AbortController();
      while (!this.#stopping && this.supervisor.size < this.settings.batch.jobs && (await this.#claim()));
      if (this.#stopping) return;
      if (this.supervisor.size >= this.settings.batch.jobs) await this.#preempt();
      await sleep(this.settings.batch.pollMs, undefined, { signal: this.#alarm.signal }).catch(() => undefined);
    }
  }

  /** All slots are in use: one tenant may hold more of them than a tenant that waits. */
  async #preempt(): Promise<void> {
    const shares = await this.store.tenantShares(Date.now()).catch(() => []);
    this.supervisor.preemptFor(shares);
  }

  /** @returns true when there may be more jobs */
  async #claim(): Promise<boolean> {
    try {
      const leased = await this.store.claim(this.#owner, Date.now(), this.settings.batch.leaseMs);
      if (!leased) return false;
      const job = this.supervisor.supervise(leased).finally(() => {
        this.#taken.delete(job);
        this.#alarm.abort();
      });
      this.#taken.add(job);
      return true;
    } catch (error) {
      this.#logger.error({ err: error as Error }, 'cannot claim batches: the database does not respond');
      return false;
    }
  }
}
