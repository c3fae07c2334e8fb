import { type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../core/shared/domain-error.js';
import { UpstreamFailure } from './upstream-failure.js';

/** OpenAI's own clients: 0.5 s, doubled up to 8 s (COMPAT "Errors"). */
const FIRST_WAIT_MS = 500;
const LONGEST_OWN_WAIT_MS = 8000;

export interface RetryPolicy {
  /** Attempts after the first one. */
  readonly retries: number;
  /** Cap of every wait, also of one that the upstream asks for. */
  readonly maxRetryWaitMs: number;
}

/** Time and chance, replaced in tests. */
export interface RetryTiming {
  /** Rejects when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 to 1. */
  random(): number;
}

export const REAL_TIMING: RetryTiming = {
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
  random: () => Math.random(),
};

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
  const ownMs = Math.min(LONGEST_OWN_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
  // Half of it is chance, so that callers refused together do not come back together.
  return Math.min(policy.maxRetryWaitMs, askedMs ?? ownMs * (0.5 + timing.random() / 2));
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

/** What an answer asks to wait: `retry-after-ms`, else `Retry-After` in seconds or as a date. `nowMs` is wall-clock time. */
export function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const ms = numberIn(headers['retry-after-ms']);
  if (ms !== undefined) return ms;
  const after = headers['retry-after'];
  const seconds = numberIn(after);
  if (seconds !== undefined) return seconds * 1000;
  // `Date.parse` makes a date of "-5", too.
  const dateMs = /^[A-Z][a-z]{2},/.test(after ?? '') ? Date.parse(after!) : NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

function numberIn(header: string | readonly string[] | undefined): number | undefined {
  if (typeof header !== 'string' || !/^\d+(\.\d+)?$/.test(header.trim())) return undefined;
  return Number(header);
}
