import { type Transaction } from 'kysely';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { isTerminal, mayBecome } from '../../core/jobs/batch-status.js';
import { type JobChange, type OutboxEntry, type UpdateOutcome } from '../../core/jobs/job.ports.js';
import { rowOfJob } from './batch-row.js';
import { type Database } from './schema.js';
import { timeOrderedId } from './time-ordered-id.js';

/**
 * Writes what a holder found out. A terminal status, the end of the lease and the webhook are one transaction: after a crash
 * either all of them are there or none.
 */
export async function writeJobChange(
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
  const reachedAtMs = status === job.status ? job.reachedAtMs : { ...job.reachedAtMs, [status]: nowMs };
  const row = rowOfJob({ ...job, ...change, status, reachedAtMs });
  const { idempotency_key: _key, id: _id, ...columns } = row;
  const ended = isTerminal(status);
  await transaction
    .updateTable('batches')
    .set(ended ? { ...columns, lease_owner: null, lease_until_ms: 0 } : columns)
    .where('id', '=', job.id)
    .execute();
  if (ended && job.webhook) await announce(transaction, job, `batch.${status}` as OutboxEntry['type'], nowMs);
  return 'written';
}

async function announce(
  transaction: Transaction<Database>,
  { id, webhook }: BatchJob,
  type: OutboxEntry['type'],
  nowMs: number,
): Promise<void> {
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
