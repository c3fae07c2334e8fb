import { type BatchJob } from '../../../core/jobs/batch-job.js';

export interface JobPace {
  /** Lines per second since the job began, failed ones included. */
  readonly linesPerS: number;
  /** Until the last line, at that rate; absent before the first one. */
  readonly remainingS?: number;
}

/** Below it the first lines would promise anything. */
const LEAST_ELAPSED_MS = 500;

/**
 * From what every replica sees, the row of the job: an average over the whole of its life, pauses included. Undefined
 * unless it is in progress. @param nowMs wall-clock time
 */
export function jobPace({ status, reachedAtMs, counts }: BatchJob, nowMs: number): JobPace | undefined {
  const beganAtMs = reachedAtMs.in_progress;
  if (status !== 'in_progress' || beganAtMs === undefined) return undefined;
  const elapsedMs = nowMs - beganAtMs;
  if (elapsedMs < LEAST_ELAPSED_MS) return undefined;
  const done = counts.completed + counts.failed;
  const linesPerS = (done * 1000) / elapsedMs;
  return { linesPerS, ...(done === 0 ? {} : { remainingS: (counts.total - done) / linesPerS }) };
}
