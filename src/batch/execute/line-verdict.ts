import {
  type AttemptCount,
  type AttemptFailure,
  causeOf,
  type FailureCause,
  isOverload,
  retryAfter,
  type RetryLimits,
} from '../../core/jobs/retry-policy.js';
import type { Answer } from './line-reply.js';

/** What becomes of a line after one attempt. */
export type Verdict =
  { readonly kind: 'settle' } | { readonly kind: 'again'; readonly tried: AttemptCount; readonly afterMs: number };

/** What the gate of the line knew of its target. */
export interface TargetStanding {
  /** Answers so far. */
  readonly answers: number;
  /** The line was sent alone, to find out whether the target is there. */
  readonly isProbe: boolean;
}

export interface VerdictContext extends TargetStanding {
  readonly tried: AttemptCount;
  readonly limits: RetryLimits;
  /** Wall clock; the job's deadline is one, too. */
  readonly nowMs: number;
  readonly deadlineMs: number;
}

export const isGood = (answer: Answer): boolean =>
  answer.kind === 'answer' && answer.status >= 200 && answer.status < 300;

/** 429 or 5xx, or no answer in time: the target has too much, or trouble. */
export const isTrouble = (answer: Answer): boolean =>
  answer.kind === 'answer' ? isOverload(answer) : answer.kind === 'transport' && answer.cause === 'timeout';

/** Undefined: it did not fail, or another attempt would fail alike. */
export function failureCauseOf(answer: Answer): FailureCause | undefined {
  const failure = failureOf(answer);
  return failure && causeOf(failure);
}

/** A good answer settles; of the others those that are worth another attempt rest first. */
export function verdictOn(answer: Answer, { tried, limits, nowMs, deadlineMs, ...standing }: VerdictContext): Verdict {
  const failure = failureOf(answer);
  if (!failure) return { kind: 'settle' };
  const cause = isBrokenByLine(failure, tried, standing) ? 'line' : causeOf(failure);
  const count = {
    ...tried,
    failed: tried.failed + (cause === 'line' || cause === 'final' ? 1 : 0),
    busy: tried.busy + (cause === 'busy' ? 1 : 0),
    ...(isLost(failure) ? { lostAt: standing.answers } : {}),
  };
  const askedMs = failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0;
  const clock = { nowMs, deadlineMs, random: Math.random };
  const decision = retryAfter({ cause, askedMs }, count, limits, clock);
  return decision.retry ? { kind: 'again', tried: count, afterMs: decision.afterMs } : { kind: 'settle' };
}

/**
 * The connection broke, and not because the target went away: it took the line when that was sent alone to look for it, or it
 * answered others between this loss and the line's last one. A line that ends its target must not do so until its deadline.
 */
const isBrokenByLine = (
  failure: AttemptFailure,
  { lostAt = Infinity }: AttemptCount,
  target: TargetStanding,
): boolean => isLost(failure) && (target.isProbe || target.answers > lostAt);

const isLost = (failure: AttemptFailure): boolean => failure.kind === 'transport' && failure.cause === 'lost';

function failureOf(answer: Answer): AttemptFailure | undefined {
  if (isGood(answer) || answer.kind === 'too_large') return undefined;
  if (answer.kind === 'transport') return { kind: 'transport', cause: answer.cause };
  const { status, retryAfterMs, shouldRetry } = answer;
  const code = status === 503 || status === 502 ? codeIn(answer.body) : undefined;
  return {
    kind: 'status',
    status,
    ...(code === undefined ? {} : { code }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(shouldRetry === undefined ? {} : { shouldRetry }),
  };
}

/** Errors are small. */
const LONGEST_ERROR_BYTES = 16_384;

/** `error.code` as the envelope has it. */
function codeIn(body: Buffer): string | undefined {
  if (body.length > LONGEST_ERROR_BYTES) return undefined;
  try {
    const { error } = JSON.parse(body.toString()) as { error?: { code?: unknown } };
    return typeof error?.code === 'string' ? error.code : undefined;
  } catch {
    return undefined;
  }
}
