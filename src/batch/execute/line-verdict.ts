import {
  type AttemptCount,
  type AttemptFailure,
  isBusy,
  retryAfter,
  type RetryLimits,
} from '../../core/jobs/retry-policy.js';
import { type Answer } from './line-answer.js';

/** What becomes of a line after one attempt. */
export type Verdict =
  { readonly kind: 'settle' } | { readonly kind: 'again'; readonly tried: AttemptCount; readonly afterMs: number };

export interface VerdictContext {
  readonly tried: AttemptCount;
  readonly limits: RetryLimits;
  /** Wall clock; the job's deadline is one, too. */
  readonly nowMs: number;
  readonly deadlineMs: number;
}

export const isGood = (answer: Answer): boolean =>
  answer.kind === 'answer' && answer.status >= 200 && answer.status < 300;

/** 429 or 5xx: the target has too much, or trouble. */
export const isTrouble = (answer: Answer): boolean =>
  answer.kind === 'answer' ? answer.status === 429 || answer.status >= 500 : answer.kind === 'transport';

/** A good answer settles; of the others those that are worth another attempt rest first. */
export function verdictOn(answer: Answer, { tried, limits, nowMs, deadlineMs }: VerdictContext): Verdict {
  const failure = failureOf(answer);
  if (!failure) return { kind: 'settle' };
  const busy = isBusy(failure);
  const count = { failed: tried.failed + (busy ? 0 : 1), busy: tried.busy + (busy ? 1 : 0) };
  const decision = retryAfter(failure, count, limits, { nowMs, deadlineMs, random: Math.random() });
  return decision.retry ? { kind: 'again', tried: count, afterMs: decision.afterMs } : { kind: 'settle' };
}

function failureOf(answer: Answer): AttemptFailure | undefined {
  if (isGood(answer) || answer.kind === 'too_large') return undefined;
  if (answer.kind === 'transport') return { kind: 'transport', cause: answer.cause };
  const { status, retryAfterMs, shouldRetry } = answer;
  return {
    kind: 'status',
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(shouldRetry === undefined ? {} : { shouldRetry }),
  };
}
