import { type Transaction } from 'kysely';
import { type BatchJob, type RequestCounts } from '../../core/jobs/batch-job.js';
import { isTerminal, mayBecome } from '../../core/jobs/batch-status.js';
import {
  type JobChange,
  type OutboxEntry,
  type UpdateOutcome,
} from '../../core/jobs/job.ports.js';
import { timeOrderedId } from '../clock/time-ordered-id.js';
import { recordOf, rowOf } from './records.js';
import { type Database, TRACED_BATCHES } from './schema.js';

/**
 * Writes what a holder found out. A terminal status, the end of the lease and the webhook
 * are one transaction: after a crash either all of them are there or none.
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

export const rowOfJob = (job: BatchJob, idempotencyKey?: string) =>
  rowOf(TRACED_BATCHES, {
    ...job,
    ...job.counts,
    webhookUrl: job.webhook?.url,
    idempotencyKey,
  });

const {
  idempotency_key: _key,
  lease_owner: _owner,
  lease_until_ms: _until,
  epoch: _epoch,
  ...JOB
} = TRACED_BATCHES;

/** As its row has it: the counts and the address of the webhook are columns. */
type FlatJob = BatchJob & RequestCounts & { readonly webhookUrl?: string };

export function jobOfRow(row: object): BatchJob {
  const { total, completed, failed, webhookUrl, ...job } = recordOf<FlatJob>(JOB, row);
  return {
    ...job,
    counts: { total, completed, failed },
    ...(webhookUrl !== undefined && { webhook: { url: webhookUrl } }),
  };
}
