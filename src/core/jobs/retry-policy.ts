import { backoffMs } from '../shared/backoff.js';

/** How one attempt at a line ended without a 2xx answer. */
export type AttemptFailure =
  | {
      readonly kind: 'status';
      readonly status: number;
      /** `error.code` of the answer. */
      readonly code?: string;
      /** From `retry-after-ms` or `Retry-After`. */
      readonly retryAfterMs?: number;
      /** From `x-should-retry`: the target knows better. */
      readonly shouldRetry?: boolean;
    }
  /** `refused`: nothing was sent. `lost`: sent, and the connection broke. `timeout`: sent, and nobody knows. */
  | { readonly kind: 'transport'; readonly cause: 'refused' | 'lost' | 'timeout' };

export interface RetryLimits {
  /** Attempts at one line that the target answered (seeds/batch-processor: max_retries 3, so 4). */
  readonly attempts: number;
  /** Attempts that may meet a busy target; 0 = unlimited. Back-off and the limit of AIMD slow them down. */
  readonly busyAttempts: number;
  readonly initialMs: number;
  readonly maxMs: number;
}

export interface AttemptCount {
  /** Attempts so far that failed because of the line. */
  readonly failed: number;
  /** Attempts so far that met a busy target. */
  readonly busy: number;
  /** Answers of the target when the connection broke under this line; absent: it never did. */
  readonly lostAt?: number;
}

/**
 * Why an attempt failed. `away`: the target is not there, and no line is tried until it is. `busy`: it has no room now. `line`: it
 * answered this line, and may answer otherwise the next time. `final`: the answer stands, or the work may still run.
 */
export type FailureCause = 'away' | 'busy' | 'line' | 'final';

export type RetryDecision = { readonly retry: true; readonly afterMs: number } | { readonly retry: false };

/** 408 and 504 are time-outs: the work may still be running, and would be done twice. */
const OF_THE_LINE = new Set([409, 425, 500]);
/** Codes of 503 that tell something of the line, not of the target. */
const GIVEN_FOR_THE_LINE = new Set(['worker_lost', 'gateway_lost']);
const NO_SLOT_IN_TIME = 'queue_timeout';
const STOP: RetryDecision = { retry: false };

/** 429 or 5xx: fewer lines at the same time do the target good. */
export const isOverload = ({ status }: { readonly status: number }): boolean => status === 429 || status >= 500;

export function causeOf(failure: AttemptFailure): FailureCause {
  if (failure.kind === 'transport') return failure.cause === 'timeout' ? 'final' : 'away';
  const { status, code = '', shouldRetry } = failure;
  if (shouldRetry === false) return 'final';
  if (status === 429) return 'busy';
  if (status === 502 || status === 503) {
    if (GIVEN_FOR_THE_LINE.has(code)) return 'line';
    return code === NO_SLOT_IN_TIME ? 'busy' : 'away';
  }
  return shouldRetry || OF_THE_LINE.has(status) ? 'line' : 'final';
}

/**
 * When a line is tried again: at once when its target is away, since its gate says when; else after exponential back-off with full
 * jitter, never before the target asked for, never when the deadline comes first (issue: "no blind retry of time-outs").
 * @param count attempts so far, this one included.
 */
export function retryAfter(
  { cause, askedMs = 0 }: { readonly cause: FailureCause; readonly askedMs?: number },
  count: AttemptCount,
  limits: RetryLimits,
  clock: { readonly nowMs: number; readonly deadlineMs: number; readonly random: () => number },
): RetryDecision {
  if (cause === 'final' || count.failed >= limits.attempts) return STOP;
  if (cause === 'away') return { retry: true, afterMs: 0 };
  if (limits.busyAttempts > 0 && count.busy >= limits.busyAttempts) return STOP;
  const tries = count.failed + count.busy;
  const backoff = { firstMs: limits.initialMs, longestMs: limits.maxMs };
  const afterMs = Math.max(askedMs, backoffMs(tries, backoff, clock.random));
  return clock.nowMs + afterMs < clock.deadlineMs ? { retry: true, afterMs } : STOP;
}
