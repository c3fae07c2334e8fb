import {
  type AttemptCount,
  causeOf,
  retryAfter,
  type RetryLimits,
} from '../../core/jobs/retry-policy.js';
import { type Answer } from './line-reply.js';

/** The line is sent once more. */
export interface NextAttempt {
  readonly kind: 'again';
  readonly tried: AttemptCount;
  readonly afterMs: number;
}

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

/** 429, 5xx or a timeout: fewer concurrent lines should be sent. */
export const isOverloaded = (answer: Answer): boolean =>
  answer.kind === 'answer'
    ? answer.status === 429 || answer.status >= 500
    : answer.kind === 'transport' && answer.cause === 'timeout';

/** @returns undefined if the attempt succeeded, or a retry would fail as well */
export const failureCauseOf = (answer: Answer) =>
  isGood(answer) || answer.kind === 'too_large' ? undefined : causeOf(answer);

/** What the target asked for. */
export const askedMs = (answer: Answer): number | undefined =>
  answer.kind === 'answer' ? answer.retryAfterMs : undefined;

/** Decides whether a line is retried; undefined: it settles. */
export function verdictOn(
  answer: Answer,
  context: VerdictContext,
): NextAttempt | undefined {
  const { tried, limits, answers, nowMs, deadlineMs } = context;
  const cause = isBrokenByLine(answer, context) ? 'line' : failureCauseOf(answer);
  if (!cause) return undefined;
  const count = {
    ...tried,
    failed: tried.failed + (cause === 'line' || cause === 'final' ? 1 : 0),
    busy: tried.busy + (cause === 'busy' ? 1 : 0),
    ...(isLost(answer) && { lostAt: answers }),
  };
  const clock = { nowMs, deadlineMs, random: Math.random };
  const afterMs = retryAfter({ cause, askedMs: askedMs(answer) }, count, limits, clock);
  return afterMs === undefined ? undefined : { kind: 'again', tried: count, afterMs };
}

/**
 * True if the line itself broke the connection: it was sent as a probe, or the target
 * answered other lines between two losses of this one. Such a line must not crash its
 * target again and again until the deadline.
 */
const isBrokenByLine = (
  answer: Answer,
  { tried: { lostAt = Infinity }, isProbe, answers }: VerdictContext,
): boolean => isLost(answer) && (isProbe || answers > lostAt);

const isLost = (answer: Answer): boolean =>
  answer.kind === 'transport' && answer.cause === 'lost';
