import { invalidField } from '../../../contracts/schema/field-problems.js';
import { type IncomingHttpHeaders } from 'node:http';
import { type BatchCreateDto } from '../../../contracts/openai/batch.dto.js';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { windowSeconds } from '../../../core/jobs/completion-window.js';
import { timeOrderedId } from '../../../platform/clock/time-ordered-id.js';

/** What the caller decides of a job. */
export type BatchParams = Pick<
  BatchJob,
  | 'endpoint'
  | 'inputFileId'
  | 'completionWindow'
  | 'metadata'
  | 'outputExpiresAfterS'
  | 'webhook'
  | 'retryOf'
  | 'traceparent'
  | 'terms'
>;

export const orderOf = (dto: BatchCreateDto): BatchParams => ({
  endpoint: dto.endpoint,
  inputFileId: dto.input_file_id,
  completionWindow: dto.completion_window,
  metadata: dto.metadata ?? {},
  outputExpiresAfterS: dto.output_expires_after?.seconds,
  webhook: dto.webhook && { url: dto.webhook.url },
});

/** A new job, not yet claimed; its deadline runs from now on. */
export const newJob = (tenant: string, order: BatchParams, nowMs: number): BatchJob => ({
  ...order,
  id: timeOrderedId('batch_', nowMs),
  tenant,
  status: 'validating',
  createdAtMs: nowMs,
  expiresAtMs: nowMs + (windowSeconds(order.completionWindow) ?? 0) * 1000,
  reachedAtMs: {},
  counts: { total: 0, completed: 0, failed: 0 },
  problems: [],
});

const LONGEST_KEY = 255;

/** @throws DomainError `invalid_value` */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length >= 1 && key.length <= LONGEST_KEY) return key;
  throw invalidField(
    'Idempotency-Key',
    `\`Idempotency-Key\` must have 1 to ${LONGEST_KEY} characters.`,
  );
}

/** Do both ask for the same? What the server decided by itself does not count. */
export const isSameBatch = (a: BatchParams, b: BatchParams): boolean =>
  fingerprint(a) === fingerprint(b);

const fingerprint = (order: BatchParams) =>
  JSON.stringify([
    order.endpoint,
    order.inputFileId,
    order.completionWindow,
    Object.entries(order.metadata).sort(([a], [b]) => (a < b ? -1 : 1)),
    order.outputExpiresAfterS,
    order.webhook?.url,
  ]);
