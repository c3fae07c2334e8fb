import { type Transaction } from 'kysely';
import type { BatchJob } from '../../core/jobs/batch-job.js';
import { isTerminal, mayBecome, UNFINISHED_STATUSES } from '../../core/jobs/batch-status.js';
import type {
  JobChange,
  LeasedJob,
  OutboxEntry,
  UpdateOutcome,
} from '../../core/jobs/job.ports.js';
import { timeOrderedId } from '../clock/time-ordered-id.js';
import { DatabaseStore, equals } from './database-store.js';
import { JOB_COLUMNS, jobOf, lockedJob } from './job-store.js';
import type { Database } from './schema.js';

/**
 * Who holds a job of the job table (D-13), and what holders write. A holder that died is
 * replaced when its lease expires: each claim raises the epoch, and writes of an earlier
 * epoch change nothing.
 */
export class JobClaims extends DatabaseStore {
  /** One atomic claim of an unfinished job that no processor holds, or whose lease expired: of the tenant with the fewest held jobs, and of these the one with the least slack. */
  async claim(owner: string, leaseMs: number): Promise<LeasedJob | undefined> {
    const row = await this.db
      .updateTable('batches')
      .set(({ eb }) => ({
        leaseOwner: owner,
        leaseUntilMs: this.after(leaseMs),
        epoch: eb('epoch', '+', 1),
      }))
      .where('id', '=', batches =>
        batches
          .selectFrom('batches')
          .select('id')
          .where('status', 'in', UNFINISHED_STATUSES)
          .where('leaseUntilMs', '<=', this.now)
          .orderBy(job =>
            job
              .selectFrom('batches as held')
              .select(held => held.fn.countAll().as('count'))
              .whereRef('held.tenant', '=', 'batches.tenant')
              .where('held.status', 'in', UNFINISHED_STATUSES)
              .where('held.leaseUntilMs', '>', this.now),
          )
          .orderBy('expiresAtMs')
          .orderBy('id')
          .limit(1)
          .$if(this.locksRows, query => query.forUpdate().skipLocked()),
      )
      .returning([...JOB_COLUMNS, 'epoch'])
      .executeTakeFirst();
    if (!row) return undefined;
    const { epoch, ...job } = row;
    return { job: jobOf(job), epoch };
  }

  /** Prolongs; also how the holder learns of a cancel. `undefined`: the lease is lost, stop at once. */
  async heartbeat(id: string, epoch: number, leaseMs: number): Promise<BatchJob | undefined> {
    const row = await this.db
      .updateTable('batches')
      .set({ leaseUntilMs: this.after(leaseMs) })
      .where(equals({ id, epoch }))
      .where('status', 'in', UNFINISHED_STATUSES)
      .returning(JOB_COLUMNS)
      .executeTakeFirst();
    return row && jobOf(row);
  }

  /** Nothing is written unless it answers `written`. @throws RangeError for an illegal move. */
  update(id: string, epoch: number, change: JobChange, nowMs: number): Promise<UpdateOutcome> {
    return this.db.transaction().execute(async transaction => {
      const row = await lockedJob(transaction, id, this.locksRows)
        .where('epoch', '=', epoch)
        .executeTakeFirst();
      return row && !isTerminal(row.status)
        ? writeJobChange(transaction, jobOf(row), change, nowMs)
        : 'lost';
    });
  }

  /** Another processor may continue at once. */
  async release(id: string, epoch: number): Promise<void> {
    await this.db
      .updateTable('batches')
      .set({ leaseOwner: null, leaseUntilMs: 0 })
      .where(equals({ id, epoch }))
      .execute();
  }
}

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
  const { counts, status = job.status, ...fields } = change;
  const isNew = status !== job.status;
  if (isNew && !mayBecome(job.status, status)) {
    if (job.status === 'cancelling') return 'cancelling';
    throw new RangeError(`A batch that is ${job.status} cannot become ${status}.`);
  }
  const ended = isTerminal(status);
  await transaction
    .updateTable('batches')
    .set({
      ...fields,
      ...counts,
      // Counts and usage are of the same results.
      ...(counts && { usage: change.usage ?? null }),
      status,
      ...(isNew && { reachedAtMs: { ...job.reachedAtMs, [status]: nowMs } }),
      ...(ended && { leaseOwner: null, leaseUntilMs: 0 }),
    })
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
      jobId: id,
      type,
      url: webhook!.url,
      attempts: 0,
      createdAtMs: nowMs,
      dueAtMs: nowMs,
    })
    .execute();
}
