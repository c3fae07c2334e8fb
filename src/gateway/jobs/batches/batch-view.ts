import { type BatchDto } from '../../../contracts/openai/batch.dto.js';
import { unixSeconds } from '../../../contracts/openai/file.dto.js';
import { type BatchJob, type BatchUsage } from '../../../core/jobs/batch-job.js';

export interface JobPace {
  /** Lines per second since the job started, failed ones included. */
  readonly linesPerS: number;
  /** Seconds to the last line at that rate; absent before the first result. */
  readonly remainingS?: number;
}

/** With less time elapsed the rate is not reliable. */
const MIN_ELAPSED_MS = 500;

/**
 * Average over the life of the job, pauses included, computed from its row, so that all
 * replicas agree. Undefined unless it is in progress.
 * @param nowMs wall-clock time
 */
export function jobPace(
  { status, reachedAtMs, counts }: BatchJob,
  nowMs: number,
): JobPace | undefined {
  const beganAtMs = reachedAtMs.in_progress;
  if (status !== 'in_progress' || beganAtMs === undefined) return undefined;
  const elapsedMs = nowMs - beganAtMs;
  if (elapsedMs < MIN_ELAPSED_MS) return undefined;
  const done = counts.completed + counts.failed;
  const linesPerS = (done * 1000) / elapsedMs;
  return {
    linesPerS,
    remainingS: done === 0 ? undefined : (counts.total - done) / linesPerS,
  };
}

/**
 * A job as OpenAI's batch, with our extensions. @param nowMs wall-clock time, for
 * rate and ETA
 */
export function batchView(job: BatchJob, nowMs: number): BatchDto {
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
    ...paceView(job, nowMs),
    retry_of: job.retryOf ?? null,
    webhook: job.webhook ?? null,
  };
}

const secondsOrNull = (ms: number | undefined): number | null =>
  ms === undefined ? null : unixSeconds(ms);

function paceView(job: BatchJob, nowMs: number): Pick<BatchDto, 'rate_per_s' | 'eta_s'> {
  const { linesPerS, remainingS } = jobPace(job, nowMs) ?? {};
  return {
    rate_per_s: linesPerS === undefined ? null : Number(linesPerS.toFixed(3)),
    eta_s: remainingS === undefined ? null : Math.ceil(remainingS),
  };
}

const usageView = ({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
}: BatchUsage) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
});
