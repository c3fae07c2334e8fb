/** How one attempt at a line ended without a 2xx answer. */
export type AttemptFailure =
  | {
      readonly kind: 'status';
      readonly status: number;
      /** From `retry-after-ms` or `Retry-After`. */
      readonly retryAfterMs?: number;
      /** From `x-should-retry`: the target knows better. */
      readonly shouldRetry?: boolean;
    }
  /** `refused`: nothing was sent. `lost`: sent, and the connection broke. `timeout`: sent, and nobody knows. */
  | { readonly kind: 'transport'; readonly cause: 'refused' | 'lost' | 'timeout' };

export interface RetryLimits {
  /** Attempts at one line in all, those that met a busy target left out (seeds/batch-processor: max_retries 3, so 4). */
  readonly attempts: number;
  /** Attempts that may meet a busy target (429, 503): back-off and the limit of AIMD slow them down. */
  readonly busyAttempts: number;
  readonly initialMs: number;
  readonly maxMs: number;
}

export interface AttemptCount {
  /** Attempts so far that failed. */
  readonly failed: number;
  /** Attempts so far that met a busy target. */
  readonly busy: number;
}

export type RetryDecision = { readonly retry: true; readonly afterMs: number } | { readonly retry: false };

const BUSY = new Set([429, 503]);
/** 408 and 504 are time-outs: the work may still be running, and would be done twice. */
const TRANSIENT = new Set([409, 425, 500, 502, ...BUSY]);
const STOP: RetryDecision = { retry: false };

export const isBusy = (failure: AttemptFailure): boolean => failure.kind === 'status' && BUSY.has(failure.status);

/**
 * Whether a line is tried again, and when: exponential back-off with full jitter, never before the target asked for, never
 * when the deadline comes first (issue: "no blind retry of time-outs").
 * @param count attempts so far, this one included. @param random 0..1
 */
export function retryAfter(
  failure: AttemptFailure,
  count: AttemptCount,
  limits: RetryLimits,
  clock: { readonly nowMs: number; readonly deadlineMs: number; readonly random: number },
): RetryDecision {
  if (!worthwhile(failure) || count.failed >= limits.attempts || count.busy >= limits.busyAttempts) return STOP;
  const tries = count.failed + count.busy;
  const ceilingMs = Math.min(limits.maxMs, limits.initialMs * 2 ** Math.min(tries - 1, 30));
  const askedMs = failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0;
  const afterMs = Math.max(askedMs, ceilingMs * (0.5 + clock.random / 2));
  return clock.nowMs + afterMs < clock.deadlineMs ? { retry: true, afterMs } : STOP;
}

function worthwhile(failure: AttemptFailure): boolean {
  if (failure.kind === 'transport') return failure.cause !== 'timeout';
  return failure.shouldRetry ?? TRANSIENT.has(failure.status);
}
