import { backoffMs } from '../../../core/shared/backoff.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { type RetryTiming } from '../../../platform/http/retry-timing.js';
import { UpstreamFailure } from './upstream-failure.js';

/** As OpenAI's clients. */
const OWN_WAITS = { firstMs: 500, longestMs: 8000 };

export interface RetryPolicy {
  /** Attempts after the first one. */
  readonly retries: number;
  /** Cap of every wait, also of one that the upstream asks for. */
  readonly maxRetryWaitMs: number;
}

export interface RetriedWork<T> {
  readonly attempt: () => Promise<T>;
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal;
  readonly timing: RetryTiming;
}

/**
 * Attempts until one succeeds, fails for good, or none are left; never another one once `signal` has aborted.
 *
 * @throws DomainError of the last attempt, the abort's reason, or whatever else `attempt` threw.
 */
export async function withRetries<T>({ attempt, policy, signal, timing }: RetriedWork<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.retry === undefined || tries > policy.retries) throw afterTries(error.error, tries);
      await timing.sleep(waitMs(tries, error.retry.afterMs, { policy, timing }), signal);
    }
  }
}

function waitMs(
  tries: number,
  askedMs: number | undefined,
  { policy, timing }: Pick<RetriedWork<never>, 'policy' | 'timing'>,
): number {
  return Math.min(policy.maxRetryWaitMs, askedMs ?? backoffMs(tries, OWN_WAITS, () => timing.random()));
}

function afterTries(error: DomainError, tries: number): DomainError {
  if (tries === 1) return error;
  const { code, message, param, retryAfterMs, cause } = error;
  return new DomainError(code, `${message} (${tries} attempts)`, {
    ...(param !== undefined && { param }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    cause,
  });
}
