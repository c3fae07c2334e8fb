import { type Transaction } from 'kysely';
import { type KeyTerms } from '../../core/access/key-terms.js';
import { type BatchEndpoint, type BatchJob, type JobProblem, type BatchUsage } from '../../core/jobs/batch-job.js';
import { type BatchStatus, isTerminal, mayBecome } from '../../core/jobs/batch-status.js';
import { type JobChange, type OutboxEntry, type UpdateOutcome } from '../../core/jobs/job.ports.js';
import { timeOrderedId } from '../clock/time-ordered-id.js';
import { type BatchRow, type Database } from './schema.js';

/**
 * Writes what a holder found out. A terminal status, the end of the lease and the webhook are one transaction: after a
 * crash either all of them are there or none.
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

export type NewBatchRow = Omit<BatchRow, 'lease_owner' | 'lease_until_ms' | 'epoch'>;

export const rowOfJob = (job: BatchJob, idempotencyKey?: string): NewBatchRow => ({
  id: job.id,
  tenant: job.tenant,
  endpoint: job.endpoint,
  input_file_id: job.inputFileId,
  completion_window: job.completionWindow,
  status: job.status,
  created_at_ms: job.createdAtMs,
  expires_at_ms: job.expiresAtMs,
  reached_at_ms: JSON.stringify(job.reachedAtMs),
  ...job.counts,
  usage: job.usage ? JSON.stringify(job.usage) : null,
  model: job.model ?? null,
  problems: JSON.stringify(job.problems),
  output_file_id: job.outputFileId ?? null,
  error_file_id: job.errorFileId ?? null,
  metadata: JSON.stringify(job.metadata),
  output_expires_after_s: job.outputExpiresAfterS ?? null,
  retry_of: job.retryOf ?? null,
  webhook_url: job.webhook?.url ?? null,
  traceparent: job.traceparent ?? null,
  terms: job.terms ? JSON.stringify(job.terms) : null,
  idempotency_key: idempotencyKey ?? null,
});

export const jobOfRow = (row: BatchRow): BatchJob => ({
  id: row.id,
  tenant: row.tenant,
  endpoint: row.endpoint as BatchEndpoint,
  inputFileId: row.input_file_id,
  completionWindow: row.completion_window,
  status: row.status as BatchStatus,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  reachedAtMs: JSON.parse(row.reached_at_ms) as BatchJob['reachedAtMs'],
  counts: { total: row.total, completed: row.completed, failed: row.failed },
  problems: JSON.parse(row.problems) as readonly JobProblem[],
  metadata: JSON.parse(row.metadata) as Readonly<Record<string, string>>,
  ...present({
    usage: row.usage === null ? null : (JSON.parse(row.usage) as BatchUsage),
    model: row.model,
    outputFileId: row.output_file_id,
    errorFileId: row.error_file_id,
    outputExpiresAfterS: row.output_expires_after_s,
    retryOf: row.retry_of,
    webhook: row.webhook_url === null ? null : { url: row.webhook_url },
    traceparent: row.traceparent,
    terms: row.terms === null ? null : (JSON.parse(row.terms) as KeyTerms),
  }),
});

type Present<T> = { readonly [K in keyof T]?: NonNullable<T[K]> };

/** NULL columns are absent fields. */
export const present = <T extends Record<string, unknown>>(fields: T): Present<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Present<T>;
