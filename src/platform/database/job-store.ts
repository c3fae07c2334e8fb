import { type Transaction } from 'kysely';
import type { BatchJob, RequestCounts } from '../../core/jobs/batch-job.js';
import {
  BATCH_STATUSES,
  type BatchStatus,
  isCancellable,
  isTerminal,
  UNFINISHED_STATUSES,
  mayBecome,
} from '../../core/jobs/batch-status.js';
import type {
  JobChange,
  LeasedJob,
  Page,
  PageRequest,
  UpdateOutcome,
  OutboxEntry,
} from '../../core/jobs/job.ports.js';
import { type TenantShare } from '../../core/jobs/tenant-share.js';
import {
  DatabaseStore,
  equals,
  changesRows,
  pageOf,
  recordOf,
  rowOf,
} from './database-store.js';
import { type Database } from './schema.js';
import { timeOrderedId } from '../clock/time-ordered-id.js';

/**
 * Writes what a holder found out. A terminal status, the end of the lease and the webhook
 * are one transaction: after a crash either all of them are there or none.
 */
async function writeJobChange(
  transaction: Transaction<Database>,
  job: BatchJob,
  change: JobChange,
  nowMs: number,
): Promise<UpdateOutcome> {
  const status = change.status ?? job.status;
  if (status !== job.status && !mayBecome(job.status, status)) {
    if (job.status === 'cancelling') return 'cancelling';
    throw new RangeError(`A batch that is ${job.status} cannot become ${status}.`);
  }
  const reachedAtMs =
    status === job.status ? job.reachedAtMs : { ...job.reachedAtMs, [status]: nowMs };
  const {
    idempotency_key: _key,
    lease_owner: _owner,
    id: _id,
    ...columns
  } = rowOfJob({ ...job, ...change, status, reachedAtMs });
  const ended = isTerminal(status);
  await transaction
    .updateTable('batches')
    .set(ended ? { ...columns, lease_owner: null, lease_until_ms: 0 } : columns)
    .where('id', '=', job.id)
    .execute();
  if (ended && job.webhook)
    await announce(transaction, job, `batch.${status}` as OutboxEntry['type'], nowMs);
  return 'written';
}

async function announce(
  transaction: Transaction<Database>,
  { id, webhook }: BatchJob,
  type: OutboxEntry['type'],
  nowMs: number,
) {
  await transaction
    .insertInto('webhook_outbox')
    .values({
      id: timeOrderedId('evt_', nowMs),
      job_id: id,
      type,
      url: webhook!.url,
      attempts: 0,
      created_at_ms: nowMs,
      due_at_ms: nowMs,
    })
    .execute();
}

const rowOfJob = (job: BatchJob, idempotencyKey?: string) =>
  rowOf('batches', {
    ...job,
    ...job.counts,
    webhookUrl: job.webhook?.url,
    idempotencyKey,
  });

const HIDDEN = ['idempotency_key', 'lease_owner', 'lease_until_ms', 'epoch'];

function jobOfRow(row: object): BatchJob {
  const { total, completed, failed, webhookUrl, ...job } = recordOf<
    BatchJob & RequestCounts & { readonly webhookUrl?: string }
  >('batches', row, HIDDEN);
  return {
    ...job,
    counts: { total, completed, failed },
    ...(webhookUrl !== undefined && { webhook: { url: webhookUrl } }),
  };
}

const CANCELLABLE: readonly BatchStatus[] = BATCH_STATUSES.filter(isCancellable);

/** The job table on SQLite or Postgres (D-13). */
export class JobStore extends DatabaseStore {
  /** With an idempotency key seen before (same tenant): that job, and `created: false`. */
  async create(
    job: BatchJob,
    idempotencyKey?: string,
  ): Promise<{ job: BatchJob; created: boolean }> {
    const created = await this.db
      .insertInto('batches')
      .values(rowOfJob(job, idempotencyKey))
      .onConflict(conflict =>
        conflict.columns(['tenant', 'idempotency_key']).doNothing(),
      )
      .returningAll()
      .executeTakeFirst();
    if (created) return { job: jobOfRow(created), created: true };
    const earlier = await this.db
      .selectFrom('batches')
      .selectAll()
      .where('tenant', '=', job.tenant)
      .where('idempotency_key', '=', idempotencyKey ?? null)
      .executeTakeFirstOrThrow();
    return { job: jobOfRow(earlier), created: false };
  }

  async find(tenant: string, id: string): Promise<BatchJob | undefined> {
    const row = await this.#of(tenant).where('id', '=', id).executeTakeFirst();
    return row && jobOfRow(row);
  }

  /** Newest first unless told otherwise; undefined when `after` is no job of the tenant. */
  async list(tenant: string, page: PageRequest): Promise<Page<BatchJob> | undefined> {
    if (page.after !== undefined && !(await this.find(tenant, page.after)))
      return undefined;
    return pageOf(this.#of(tenant), page, jobOfRow);
  }

  /** Sets `cancelling`, or says that the job is past it; undefined: no such job. Never needs the lease. */
  requestCancel(
    tenant: string,
    id: string,
    nowMs: number,
  ): Promise<{ job: BatchJob; accepted: boolean } | undefined> {
    return this.db.transaction().execute(async transaction => {
      const row = await this.#locked(transaction, id)
        .where('tenant', '=', tenant)
        .executeTakeFirst();
      if (!row) return undefined;
      const job = jobOfRow(row);
      if (!CANCELLABLE.includes(job.status))
        return { job, accepted: job.status === 'cancelling' };
      const cancelling = {
        ...job,
        status: 'cancelling' as const,
        reachedAtMs: { ...job.reachedAtMs, cancelling: nowMs },
      };
      const { status, reached_at_ms } = rowOfJob(cancelling);
      await transaction
        .updateTable('batches')
        .set({ status, reached_at_ms })
        .where('id', '=', id)
        .execute();
      return { job: cancelling, accepted: true };
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
    const rows = await this.db
      .selectFrom('batches')
      .select('id')
      .where('input_file_id', '=', fileId)
      .where('status', 'in', UNFINISHED_STATUSES)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Which of these ids are batches that have not ended: what was kept for going on with the others is garbage. */
  async unfinishedAmong(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.db
      .selectFrom('batches')
      .select('id')
      .where('id', 'in', ids)
      .where('status', 'in', UNFINISHED_STATUSES)
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** One atomic claim of an unfinished job that no processor holds, or whose lease expired: of the tenant with the fewest held jobs, and of these the one with the least slack. */
  async claim(
    owner: string,
    nowMs: number,
    leaseMs: number,
  ): Promise<LeasedJob | undefined> {
    const row = await this.db
      .updateTable('batches')
      .set(({ eb }) => ({
        lease_owner: owner,
        lease_until_ms: nowMs + leaseMs,
        epoch: eb('epoch', '+', 1),
      }))
      .where('id', '=', batches =>
        batches
          .selectFrom('batches')
          .select('id')
          .where('status', 'in', UNFINISHED_STATUSES)
          .where('lease_until_ms', '<=', nowMs)
          .orderBy(job =>
            job
              .selectFrom('batches as held')
              .select(held => held.fn.countAll().as('count'))
              .whereRef('held.tenant', '=', 'batches.tenant')
              .where('held.status', 'in', UNFINISHED_STATUSES)
              .where('held.lease_until_ms', '>', nowMs),
          )
          .orderBy('expires_at_ms')
          .orderBy('id')
          .limit(1)
          .$if(this.locksRows, query => query.forUpdate().skipLocked()),
      )
      .returningAll()
      .executeTakeFirst();
    return row && { job: jobOfRow(row), epoch: row.epoch };
  }

  /** Prolongs; also how the holder learns of a cancel. `undefined`: the lease is lost, stop at once. */
  async heartbeat(
    id: string,
    epoch: number,
    nowMs: number,
    leaseMs: number,
  ): Promise<BatchJob | undefined> {
    const row = await this.db
      .updateTable('batches')
      .set({ lease_until_ms: nowMs + leaseMs })
      .where(equals({ id, epoch }))
      .where('status', 'in', UNFINISHED_STATUSES)
      .returningAll()
      .executeTakeFirst();
    return row && jobOfRow(row);
  }

  /** Nothing is written unless it answers `written`. @throws RangeError for an illegal move. */
  update(
    id: string,
    epoch: number,
    change: JobChange,
    nowMs: number,
  ): Promise<UpdateOutcome> {
    return this.db.transaction().execute(async transaction => {
      const row = await this.#locked(transaction, id)
        .where('epoch', '=', epoch)
        .executeTakeFirst();
      return row && !isTerminal(row.status as BatchStatus)
        ? writeJobChange(transaction, jobOfRow(row), change, nowMs)
        : 'lost';
    });
  }

  /** Another processor may continue at once. */
  async release(id: string, epoch: number): Promise<void> {
    await this.db
      .updateTable('batches')
      .set({ lease_owner: null, lease_until_ms: 0 })
      .where(equals({ id, epoch }))
      .execute();
  }

  /** Of every tenant with unfinished jobs. */
  async tenantShares(nowMs: number): Promise<readonly TenantShare[]> {
    const rows = await this.db
      .selectFrom('batches')
      .select(({ fn, eb }) => [
        'tenant',
        fn.countAll<number>().as('jobs'),
        fn
          .sum<number>(
            eb
              .case()
              .when('lease_until_ms', '>', nowMs)
              .then(eb.lit(1))
              .else(eb.lit(0))
              .end(),
          )
          .as('running'),
      ])
      .where('status', 'in', UNFINISHED_STATUSES)
      .groupBy('tenant')
      .execute();
    return rows.map(({ tenant, jobs, running }) => ({
      tenant,
      running: Number(running),
      waiting: Number(jobs) - Number(running),
    }));
  }

  /** For gauges: jobs by status, and the oldest unclaimed one's creation. */
  async backlog(nowMs: number): Promise<{
    byStatus: Record<BatchStatus, number>;
    oldestWaitingMs?: number;
  }> {
    const rows = await this.db
      .selectFrom('batches')
      .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
      .groupBy('status')
      .execute();
    const byStatus = Object.fromEntries(
      BATCH_STATUSES.map(status => [status, 0]),
    ) as Record<BatchStatus, number>;
    for (const { status, count } of rows)
      byStatus[status as BatchStatus] = Number(count);
    const waiting = await this.db
      .selectFrom('batches')
      .select(({ fn }) => fn.min<number | null>('created_at_ms').as('oldest'))
      .where('status', 'in', UNFINISHED_STATUSES)
      .where('lease_until_ms', '<=', nowMs)
      .executeTakeFirst();
    return {
      byStatus,
      ...(waiting?.oldest && {
        oldestWaitingMs: Math.max(0, nowMs - waiting.oldest),
      }),
    };
  }

  #of(tenant: string) {
    return this.db.selectFrom('batches').selectAll().where('tenant', '=', tenant);
  }

  /**
   * The row, kept from other writers until the transaction ends; SQLite's transactions
   * keep them all away.
   */
  #locked(transaction: Transaction<Database>, id: string) {
    return transaction
      .selectFrom('batches')
      .selectAll()
      .where('id', '=', id)
      .$if(this.locksRows, query => query.forUpdate());
  }
}
