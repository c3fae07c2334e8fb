import { BatchWebhookDto } from '../../../../contracts/openai/batch-webhook.dto.js';
import { type BatchJob, BATCH_ENDPOINTS } from '../../../../core/jobs/batch-job.js';
import { BATCH_STATUSES } from '../../../../core/jobs/batch-status.js';
import {
  anyField,
  choiceField,
  fieldOf,
  nullableField,
  numberField,
  objectField,
  secondsOrNull,
  textField,
  unixSeconds,
  answer,
} from '../../../http/openapi/answer.js';
import { BatchErrorsDto } from './batch-errors.dto.js';
import { BatchUsageDto, usageView } from './batch-usage.dto.js';

class RequestCountsDto extends answer({
  total: Number,
  completed: Number,
  failed: Number,
}) {}

/**
 * OpenAI's batch; what is not known or not reached is null. Ours: `eta_s`, `rate_per_s`,
 * `retry_of`, `webhook`.
 */
export class BatchDto extends answer({
  id: textField({ example: 'batch_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('batch'),
  endpoint: choiceField(BATCH_ENDPOINTS),
  model: nullableField(textField('When all lines name the same.')),
  errors: nullableField(BatchErrorsDto),
  input_file_id: String,
  completion_window: textField({ example: '24h' }),
  status: choiceField(BATCH_STATUSES),
  output_file_id: nullableField(String),
  error_file_id: nullableField(String),
  created_at: numberField('Unix seconds, as all times here.'),
  in_progress_at: nullableField(Number),
  expires_at: numberField('The deadline.'),
  finalizing_at: nullableField(Number),
  completed_at: nullableField(Number),
  failed_at: nullableField(Number),
  expired_at: nullableField(Number),
  cancelling_at: nullableField(Number),
  cancelled_at: nullableField(Number),
  request_counts: fieldOf(RequestCountsDto, 'Live.'),
  usage: nullableField(BatchUsageDto),
  metadata: anyField<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
  }),
  rate_per_s: nullableField(numberField('Lines per second so far, while in progress.')),
  eta_s: nullableField(numberField('Seconds until the last line, at that rate.')),
  retry_of: nullableField(textField('The batch whose failed lines these are.')),
  webhook: nullableField(BatchWebhookDto),
}) {}

/** With less time elapsed the rate is not reliable. */
const MIN_ELAPSED_MS = 500;

/**
 * Lines per second, failed ones included, and seconds to the last line at that rate:
 * averages over the life of the job, pauses included, computed from its row, so that all
 * replicas agree. Null unless it is in progress, and the end before the first result.
 * @param nowMs wall-clock time
 */
export function paceOf({ status, reachedAtMs, counts }: BatchJob, nowMs: number) {
  const elapsedMs = nowMs - (reachedAtMs.in_progress ?? nowMs);
  if (status !== 'in_progress' || elapsedMs < MIN_ELAPSED_MS)
    return { rate_per_s: null, eta_s: null };
  const done = counts.completed + counts.failed;
  const perS = (done * 1000) / elapsedMs;
  return {
    rate_per_s: Number(perS.toFixed(3)),
    eta_s: done === 0 ? null : Math.ceil((counts.total - done) / perS),
  };
}

/** A job as OpenAI's batch, with our extensions. */
export function batchView(job: BatchJob): BatchDto {
  const { reachedAtMs: at, counts, problems } = job;
  return {
    id: job.id,
    object: 'batch',
    endpoint: job.endpoint,
    model: job.model ?? null,
    errors: problems.length === 0 ? null : { object: 'list', data: problems },
    input_file_id: job.inputFileId,
    completion_window: job.completionWindow,
    status: job.status,
    output_file_id: job.outputFileId ?? null,
    error_file_id: job.errorFileId ?? null,
    created_at: unixSeconds(job.createdAtMs),
    in_progress_at: secondsOrNull(at.in_progress),
    expires_at: unixSeconds(job.expiresAtMs),
    finalizing_at: secondsOrNull(at.finalizing),
    completed_at: secondsOrNull(at.completed),
    failed_at: secondsOrNull(at.failed),
    expired_at: secondsOrNull(at.expired),
    cancelling_at: secondsOrNull(at.cancelling),
    cancelled_at: secondsOrNull(at.cancelled),
    request_counts: counts,
    usage: job.usage ? usageView(job.usage) : null,
    metadata: job.metadata,
    ...paceOf(job, Date.now()),
    retry_of: job.retryOf ?? null,
    webhook: job.webhook ?? null,
  };
}
