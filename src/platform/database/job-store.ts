import { type Transaction } from 'kysely';
import type { BatchJob } from '../../core/jobs/batch-job.js';
import {
  BATCH_STATUSES,
  type BatchStatus,
  isCancellable,
  UNFINISHED_STATUSES,
} from '../../core/jobs/batch-status.js';
import type { Page, PageRequest } from '../../core/jobs/job.ports.js';
import { type TenantShare } from '../../core/jobs/tenant-share.js';
import { columnsOf, DatabaseStore, equals, changesRows, pageOf } from './database-store.js';
import type { Database, JobRow } from './schema.js';

export const JOB_COLUMNS = columnsOf(
  'batches',
  'idempotencyKey',
  'leaseOwner',
  'leaseUntilMs',
  'epoch',
);

export const jobOf = ({ total, completed, failed, webhookUrl, ...job }: JobRow): BatchJob => ({
  ...job,
  counts: { total, completed, failed },
  ...(webhookUrl !== undefined && { webhook: { url: webhookUrl } }),
});

/**
 * The row, kept from other writers until the transaction ends; SQLite's transactions
 * keep them all away.
 */
export const lockedJob = (transaction: Transaction<Database>, id: string, locksRows: boolean) =>
  transaction
    .selectFrom('batches')
    .select(JOB_COLUMNS)
    .where('id', '=', id)
    .$if(locksRows, query => query.forUpdate());

const CANCELLABLE: readonly BatchStatus[] = BATCH_STATUSES.filter(isCancellable);

/** The job table on SQLite or Postgres (D-13), without what holders of jobs write (`JobClaims`). */
export class JobStore extends DatabaseStore {
  /** With an idempotency key seen before (same tenant): that job, and `created: false`. */
  async create(
    job: BatchJob,
    idempotencyKey?: string,
  ): Promise<{ job: BatchJob; created: boolean }> {
    const { counts, webhook, ...fields } = job;
    const created = await changesRows(
      this.db
        .insertInto('batches')
        .values({ ...fields, ...counts, webhookUrl: webhook?.url, idempotencyKey })
        .onConflict(conflict => conflict.columns(['tenant', 'idempotencyKey']).doNothing()),
    );
    if (created) return { job, created };
    const earlier = await this.#of(job.tenant)
      .where('idempotencyKey', '=', idempotencyKey ?? null)
      .executeTakeFirstOrThrow();
    return { job: jobOf(earlier), created };
  }

  async find(tenant: string, id: string): Promise<BatchJob | undefined> {
    const row = await this.#of(tenant).where('id', '=', id).executeTakeFirst();
    return row && jobOf(row);
  }

  /** Newest first unless told otherwise; undefined when `after` is no job of the tenant. */
  async list(tenant: string, page: PageRequest): Promise<Page<BatchJob> | undefined> {
    if (page.after !== undefined && !(await this.find(tenant, page.after))) return undefined;
    const { data, hasMore } = await pageOf(this.#of(tenant), page);
    return { data: data.map(jobOf), hasMore };
  }

  /** Sets `cancelling`, or says that the job is past it; undefined: no such job. Never needs the lease. */
  requestCancel(
    tenant: string,
    id: string,
    nowMs: number,
  ): Promise<{ job: BatchJob; accepted: boolean } | undefined> {
    return this.db.transaction().execute(async transaction => {
      const row = await lockedJob(transaction, id, this.locksRows)
        .where('tenant', '=', tenant)
        .executeTakeFirst();
      if (!row) return undefined;
      const job = jobOf(row);
      if (!CANCELLABLE.includes(job.status)) return { job, accepted: job.status === 'cancelling' };
      const cancelling = {
        status: 'cancelling' as const,
        reachedAtMs: { ...job.reachedAtMs, cancelling: nowMs },
      };
      await transaction.updateTable('batches').set(cancelling).where('id', '=', id).execute();
      return { job: { ...job, ...cancelling }, accepted: true };
    });
  }

  /** Only ended jobs; the files stay. */
  async remove(tenant: string, id: string): Promise<'removed' | 'running' | 'unknown'> {
    const isRemoved = await changesRows(
      this.db
        .deleteFrom('batches')
        .where(equals({ tenant, id }))
        .where('status', 'not in', UNFINISHED_STATUSES),
    );
    if (isRemoved) return 'removed';
    return (await this.find(tenant, id)) ? 'running' : 'unknown';
  }

  /** Unfinished batches that read this file: it must not be deleted. */
  async usersOf(fileId: string): Promise<readonly string[]> {
    const rows = await this.#unfinished.select('id').where('inputFileId', '=', fileId).execute();
    return rows.map(({ id }) => id);
  }

  /** Which of these ids are batches that have not ended: what was kept for going on with the others is garbage. */
  async unfinishedAmong(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.#unfinished.select('id').where('id', 'in', ids).execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** Of every tenant with unfinished jobs. */
  tenantShares(): Promise<readonly TenantShare[]> {
    return this.#unfinished
      .select(({ fn }) => [
        'tenant',
        fn.countAll<number>().filterWhere('leaseUntilMs', '>', this.now).as('running'),
        fn.countAll<number>().filterWhere('leaseUntilMs', '<=', this.now).as('waiting'),
      ])
      .groupBy('tenant')
      .execute();
  }

  /** For gauges: jobs by status, and the oldest unclaimed one's creation. */
  async backlog(): Promise<{
    byStatus: Record<BatchStatus, number>;
    oldestWaitingMs?: number;
  }> {
    const rows = await this.db
      .selectFrom('batches')
      .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
      .groupBy('status')
      .execute();
    const byStatus = Object.fromEntries(BATCH_STATUSES.map(status => [status, 0])) as Record<
      BatchStatus,
      number
    >;
    for (const { status, count } of rows) byStatus[status] = count;
    const waiting = await this.#unfinished
      .select(({ fn }) => [fn.min<number | null>('createdAtMs').as('oldest'), this.now.as('nowMs')])
      .where('leaseUntilMs', '<=', this.now)
      .executeTakeFirst();
    return {
      byStatus,
      ...(waiting?.oldest && {
        oldestWaitingMs: Math.max(0, Number(waiting.nowMs) - waiting.oldest),
      }),
    };
  }

  get #unfinished() {
    return this.db.selectFrom('batches').where('status', 'in', UNFINISHED_STATUSES);
  }

  #of(tenant: string) {
    return this.db.selectFrom('batches').select(JOB_COLUMNS).where('tenant', '=', tenant);
  }
}
