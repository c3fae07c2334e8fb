import { backoffMs } from '@switchyard/engine-api/backoff.js';

/** How one attempt at a line ended without a 2xx answer. */
type AttemptFailure =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** `error.code` of the answer. */
      readonly code?: string;
      /** From `retry-after-ms` or `Retry-After`. */
      readonly retryAfterMs?: number;
      /** From `x-should-retry`: the target knows better. */
      readonly shouldRetry?: boolean;
    }
  /**
   * `refused`: nothing was sent. `lost`: the connection broke after sending. `timeout`:
   * no answer in time.
   */
  | { readonly kind: 'transport'; readonly cause: 'refused' | 'lost' | 'timeout' };

export interface RetryLimits {
  /** Attempts at one line that failed. Those at a busy target have no bound but the deadline. */
  readonly attempts: number;
  readonly initialMs: number;
  readonly maxMs: number;
}

export interface AttemptCount {
  /** Failed attempts caused by the line. */
  readonly failed: number;
  /** Attempts rejected by a busy target. */
  readonly busy: number;
  /**
   * Number of answers of the target when the connection broke for this line; absent:
   * it never did.
   */
  readonly lostAt?: number;
}

/**
 * Why an attempt failed. `away`: the target is unreachable; lines wait. `busy`: it has no
 * room now. `line`: it answered, and a retry may succeed. `final`: a retry is useless, or
 * the work may still run.
 */
type FailureCause = 'away' | 'busy' | 'line' | 'final';

/** Without 408: after a timeout the work may still run, and would be done twice. */
const CAUSED_BY_LINE = new Set([409, 425, 500, 504]);
/** Codes of 503 that concern the line, not the target. */
const LINE_CODES = new Set(['worker_lost', 'gateway_lost']);

export function causeOf(failure: AttemptFailure): FailureCause {
  if (failure.kind === 'transport') return failure.cause === 'timeout' ? 'final' : 'away';
  const { status, code = '', shouldRetry } = failure;
  // A client that waits for its answer does not try a time limit again; a batch has the time.
  if (shouldRetry === false && status !== 504) return 'final';
  if (status === 429) return 'busy';
  if (status === 502 || status === 503) return causeOfUnavailable(code);
  return shouldRetry || CAUSED_BY_LINE.has(status) ? 'line' : 'final';
}

function causeOfUnavailable(code: string): FailureCause {
  if (LINE_CODES.has(code)) return 'line';
  return code === 'queue_timeout' ? 'busy' : 'away';
}

/**
 * When a line is retried. If its target is unreachable: at once, since the gate decides.
 * Otherwise after back-off, not before `Retry-After`, and never after the deadline.
 * @param count attempts so far, this one included
 * @returns milliseconds; undefined: never
 */
export function retryAfter(
  { cause, askedMs = 0 }: { readonly cause: FailureCause; readonly askedMs?: number },
  count: AttemptCount,
  limits: RetryLimits,
  clock: {
    readonly nowMs: number;
    readonly deadlineMs: number;
    readonly random: () => number;
  },
): number | undefined {
  if (cause === 'final' || count.failed >= limits.attempts) return undefined;
  if (cause === 'away') return 0;
  const tries = count.failed + count.busy;
  const backoff = { firstMs: limits.initialMs, longestMs: limits.maxMs };
  const afterMs = Math.max(askedMs, backoffMs(tries, backoff, clock.random));
  return clock.nowMs + afterMs < clock.deadlineMs ? afterMs : undefined;
}
