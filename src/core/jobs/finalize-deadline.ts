import { type BatchJob } from './batch-job.js';

/** When a batch ends with its durable results, although its stores do not respond. */
export function finalizeDeadlineMs(
  { status, reachedAtMs, expiresAtMs }: BatchJob,
  limits: {
    /**
     * From the last line, the cancel or the deadline until the result files must be stored.
     */
    readonly finalizeTimeoutMs: number;
    /** The same time where a batch is cancelled while its result files are being stored. */
    readonly graceMs: number;
  },
): number {
  const { finalizing, cancelling } = reachedAtMs;
  if (status === 'finalizing') return (finalizing ?? 0) + limits.finalizeTimeoutMs;
  if (status !== 'cancelling') return expiresAtMs + limits.finalizeTimeoutMs;
  return (cancelling ?? 0) + (finalizing === undefined ? limits.finalizeTimeoutMs : limits.graceMs);
}
