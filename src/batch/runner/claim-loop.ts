import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { type JobStore } from '../../core/jobs/job.ports.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { JOB_STORE } from '../../platform/database/database.tokens.js';
import { JobSupervisor } from './job-supervisor.js';

/** Claims jobs while there is room for one; looks again when woken, when a job ends, and every `batch.poll_ms`. */
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
    private readonly desk: JobSupervisor,
  ) {}

  start(): void {
    this.#running ??= this.#run();
  }

  /** A job may have come, or a cancel. */
  wake(): void {
    this.#alarm.abort();
    this.desk.wake();
  }

  /** Claims nothing more, and waits until every job is handed over. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.desk.stop();
    this.#alarm.abort();
    await this.#running;
    await Promise.all(this.#taken);
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#alarm = new AbortController();
      while (!this.#stopping && this.desk.size < this.settings.batch.jobs && (await this.#claim()));
      if (this.#stopping) return;
      if (this.desk.size >= this.settings.batch.jobs) await this.#makeRoom();
      await sleep(this.settings.batch.pollMs, undefined, { signal: this.#alarm.signal }).catch(() => undefined);
    }
  }

  /** All slots are taken: one tenant may have more of them than another that waits. */
  async #makeRoom(): Promise<void> {
    const shares = await this.store.tenantShares(Date.now()).catch(() => []);
    this.desk.makeRoom(shares);
  }

  /** @returns true when there may be more. */
  async #claim(): Promise<boolean> {
    try {
      const leased = await this.store.claim(this.#owner, Date.now(), this.settings.batch.leaseMs);
      if (!leased) return false;
      const job = this.desk.take(leased).finally(() => {
        this.#taken.delete(job);
        this.#alarm.abort();
      });
      this.#taken.add(job);
      return true;
    } catch (error) {
      this.#logger.error({ err: error as Error }, 'no batch can be claimed; the database does not answer');
      return false;
    }
  }
}
