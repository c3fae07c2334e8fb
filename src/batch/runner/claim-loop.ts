import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { JobSupervisor } from './job-supervisor.js';
import { JobStore } from '../../platform/database/job-store.js';

/**
 * Looks in a row that found nothing to do, until a processor that is woken looks at every
 * fifth time only.
 */
const QUIET_LOOKS = 3;
const QUIET_POLLS = 5;

/**
 * Claims jobs while a slot is free: when woken, when a job ends, and
 * every `batch.poll_ms`.
 */
@Injectable()
export class ClaimLoop {
  readonly #logger = new Logger('BatchLease');
  readonly #owner = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  readonly #taken = new Set<Promise<unknown>>();
  #alarm = new AbortController();
  #running: Promise<void> | undefined;
  #stopping = false;
  #quietLooks = 0;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly store: JobStore,
    private readonly supervisor: JobSupervisor,
  ) {}

  /**
   * @param isWoken its gateway tells of new work: only that of other gateways has to
   *   be looked for
   */
  start(isWoken = false): void {
    this.#running ??= this.#run(isWoken);
  }

  /** There may be a new job or a cancel. */
  wake(): void {
    this.#quietLooks = 0;
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

  async #run(isWoken: boolean): Promise<void> {
    while (!this.#stopping) {
      this.#alarm = new AbortController();
      while (
        !this.#stopping &&
        this.supervisor.size < this.settings.batch.jobs &&
        (await this.#claim())
      );
      if (this.#stopping) return;
      if (this.supervisor.size >= this.settings.batch.jobs) await this.#preempt();
      this.#quietLooks = this.supervisor.size === 0 ? this.#quietLooks + 1 : 0;
      const polls = isWoken && this.#quietLooks >= QUIET_LOOKS ? QUIET_POLLS : 1;
      await sleep(polls * this.settings.batch.pollMs, undefined, {
        signal: this.#alarm.signal,
      }).catch(() => undefined);
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
      const leased = await this.store.claim(
        this.#owner,
        Date.now(),
        this.settings.batch.leaseMs,
      );
      if (!leased) return false;
      const job = this.supervisor.supervise(leased).finally(() => {
        this.#taken.delete(job);
        this.#alarm.abort();
      });
      this.#taken.add(job);
      return true;
    } catch (error) {
      this.#logger.error(
        { err: error as Error },
        'cannot claim batches: the database does not respond',
      );
      return false;
    }
  }
}
