import {
  type AttemptCount,
  type AttemptFailure,
  causeOf,
  type FailureCause,
  isOverload,
  retryAfter,
  type RetryLimits,
} from '../../core/jobs/retry-policy.js';
import { type Answer } from './line-reply.js';

/** What happens to a line after one attempt. */
export type Verdict =
  | { readonly kind: 'settle' }
  | { readonly kind: 'again'; readonly tried: AttemptCount; readonly afterMs: number };

interface VerdictContext {
  readonly tried: AttemptCount;
  readonly limits: RetryLimits;
  /** Answers of the target so far. */
  readonly answers: number;
  /** The line was sent as a probe of an unreachable target. */
  readonly isProbe: boolean;
  /** Wall-clock time, like the job's deadline. */
  readonly nowMs: number;
  readonly deadlineMs: number;
}

export const isGood = (answer: Answer): boolean =>
  answer.kind === 'answer' && answer.status >= 200 && answer.status < 300;

/** 429, 5xx or a timeout. */
export const isOverloaded = (answer: Answer): boolean =>
  answer.kind === 'answer'
    ? isOverload(answer)
    : answer.kind === 'transport' && answer.cause === 'timeout';

/** @returns undefined if the attempt succeeded, or a retry would fail as well */
export function failureCauseOf(answer: Answer): FailureCause | undefined {
  const failure = failureOf(answer);
  return failure && causeOf(failure);
}

/** Decides whether a line settles or is retried. */
export function verdictOn(answer: Answer, context: VerdictContext): Verdict {
  const { tried, limits, answers, nowMs, deadlineMs } = context;
  const failure = failureOf(answer);
  if (!failure) return { kind: 'settle' };
  const cause = isBrokenByLine(failure, context) ? 'line' : causeOf(failure);
  const count = {
    ...tried,
    failed: tried.failed + (cause === 'line' || cause === 'final' ? 1 : 0),
    busy: tried.busy + (cause === 'busy' ? 1 : 0),
    ...(isLost(failure) && { lostAt: answers }),
  };
  const askedMs = failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0;
  const clock = { nowMs, deadlineMs, random: Math.random };
  const decision = retryAfter({ cause, askedMs }, count, limits, clock);
  return decision.retry
    ? { kind: 'again', tried: count, afterMs: decision.afterMs }
    : { kind: 'settle' };
}

/**
 * True if the line itself broke the connection: it was sent as a probe, or the target
 * answered other lines between two losses of this one. Such a line must not crash its
 * target again and again until the deadline.
 */
const isBrokenByLine = (
  failure: AttemptFailure,
  { tried: { lostAt = Infinity }, isProbe, answers }: VerdictContext,
): boolean => isLost(failure) && (isProbe || answers > lostAt);

const isLost = (failure: AttemptFailure): boolean =>
  failure.kind === 'transport' && failure.cause === 'lost';

function failureOf(answer: Answer): AttemptFailure | undefined {
  if (isGood(answer) || answer.kind === 'too_large') return undefined;
  if (answer.kind === 'transport') return { kind: 'transport', cause: answer.cause };
  const { status, retryAfterMs, shouldRetry } = answer;
  const code = status === 503 || status === 502 ? codeIn(answer.body) : undefined;
  return { kind: 'status', status, code, retryAfterMs, shouldRetry };
}

/** Larger bodies are not parsed. */
const MAX_ERROR_BYTES = 16_384;

/** `error.code` of OpenAI's error envelope. */
function codeIn(body: Buffer): string | undefined {
  if (body.length > MAX_ERROR_BYTES) return undefined;
  try {
    const { error } = JSON.parse(body.toString()) as { error?: { code?: unknown } };
    return typeof error?.code === 'string' ? error.code : undefined;
  } catch {
    return undefined;
  }
}
