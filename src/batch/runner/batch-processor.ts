import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { Settings } from '../../platform/config/settings.js';
import { JobStore } from '../../platform/database/job-store.js';
import { ifPresent, isAbsent } from '../../platform/storage/durable-files.js';
import { WebhookSender } from '../finalize/webhook-sender.js';
import { JobFolder } from '../job/job-folder.js';
import { LineGrace } from '../lease/job-stop.js';
import { JobMetrics } from '../observe/job.metrics.js';
import { JobSupervisor } from './job-supervisor.js';

/**
 * Looks in a row that found nothing to do, until a processor that is woken looks at every
 * fifth time only.
 */
const QUIET_LOOKS = 3;

const QUIET_POLLS = 5;

/**
 * The batch processor: claims jobs while a slot is free, that is when woken, when a job
 * ends, and every `batch.poll_ms`.
 */
@Injectable()
export class BatchProcessor {
  readonly #logger = new Logger('BatchLease');
  readonly #owner = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  readonly #taken = new Set<Promise<unknown>>();
  #alarm = new AbortController();
  #running: Promise<void> | undefined;
  #stopping: Promise<unknown> | undefined;
  #quietLooks = 0;

  constructor(
    private readonly settings: Settings,
    private readonly store: JobStore,
    private readonly supervisor: JobSupervisor,
    private readonly webhooks: WebhookSender,
    private readonly grace: LineGrace,
    private readonly metrics: JobMetrics,
  ) {}

  /**
   * @param isWoken its gateway calls `wake` for its new work: only that of other gateways
   *   has to be looked for
   */
  async start(isWoken = false): Promise<void> {
    const jobs = join(this.settings.data.dir, 'jobs');
    for (const { status, action } of await sweepLeftovers(jobs, this.store))
      this.metrics.recovered(status, action);
    this.#running = this.#run(isWoken);
    this.webhooks.start();
    new Logger(BatchProcessor.name).log('looking for batches');
  }

  /** A batch was created or cancelled: look for work now. */
  wake(): void {
    this.#quietLooks = 0;
    this.#alarm.abort();
    this.supervisor.wake();
  }

  /**
   * Stops claiming and waits until every job is handed over.
   * @param hurry drop the lines in flight: the gateway is gone, and another processor
   *   sends them again
   */
  stop(hurry = false): Promise<unknown> {
    if (hurry) this.grace.hurry();
    this.#stopping ??= Promise.all([this.#handOver(), this.webhooks.stop()]);
    return this.#stopping;
  }

  async #handOver(): Promise<void> {
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
      await pause(polls * this.settings.batch.pollMs, this.#alarm.signal);
    }
  }

  /** All slots are in use: one tenant may hold more of them than a tenant that waits. */
  async #preempt(): Promise<void> {
    const shares = await this.store.tenantShares().catch(() => []);
    this.supervisor.preemptFor(shares);
  }

  /** @returns true when there may be more jobs */
  async #claim(): Promise<boolean> {
    try {
      const leased = await this.supervisor.claim(this.#owner);
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

/**
 * Removes work folders of jobs that ended on another processor or no longer exist.
 * Folders of unfinished jobs stay: the next claim continues from them.
 * @param jobs `<data.dir>/jobs`
 * @returns the status of each folder's job, and the action taken
 */
async function sweepLeftovers(
  jobs: string,
  store: JobStore,
): Promise<readonly { status: string; action: 'kept' | 'cleaned_up' }[]> {
  const found: { status: string; action: 'kept' | 'cleaned_up' }[] = [];
  const names = (await ifPresent(readdir(jobs))) ?? [];
  // By id, since the folder of a batch that is just being ingested has no
  // owner file yet.
  const unfinished = await store.unfinishedAmong(names);
  for (const id of names) {
    const folder = new JobFolder(jobs, id);
    const status = (await statusOf(folder, store)) ?? 'unknown';
    const hasEnded = !unfinished.has(id);
    if (hasEnded) await folder.remove();
    found.push({ status, action: hasEnded ? 'cleaned_up' : 'kept' });
  }
  if (found.length > 0)
    new Logger('BatchRecovery').log(
      { folders: found.length },
      'checked work folders of earlier processors',
    );
  return found;
}

/** @returns undefined if there is no such job or no owner file */
async function statusOf(folder: JobFolder, store: JobStore) {
  try {
    const { tenant, id } = parseBoundedJson(await readFile(folder.owner, 'utf8')) as {
      tenant: string;
      id: string;
    };
    return (await store.find(tenant, id))?.status;
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
