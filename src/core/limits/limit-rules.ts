import { backlogMs, type CellRate, remaining, waitMs } from './cell-rate.js';

/** The order of the checks; the first limit that rejects is reported. */
export const LIMIT_NAMES = [
  // Per UTC day.
  'requestsPerDay',
  'requestsPerMinute',
  'tokensPerMinute',
  'audioSecondsPerMinute',
  'concurrentRequests',
] as const;

/** Limits of one caller; 0 = unlimited. */
export type Limits = Readonly<Record<(typeof LIMIT_NAMES)[number], number>>;

/** Usage of a caller, in a form that needs no timer. Times are Unix milliseconds. */
export interface LimitUse {
  /** When the requests, tokens and seconds used so far are paid for (`cell-rate`). */
  readonly requestsPaidMs: number;
  readonly tokensPaidMs: number;
  readonly audioPaidMs: number;
  /** Number of the UTC day that `dayCount` counts. */
  readonly day: number;
  readonly dayCount: number;
  readonly running: number;
}

interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the full limit is available. */
  readonly resetMs: number;
}

/** Remaining limits of a caller, for headers; absent: no such limit. */
export interface RateLimitStatus {
  readonly requests?: Allowance;
  readonly tokens?: Allowance;
  readonly audioSeconds?: Allowance;
}

export interface RateLimitRefusal {
  readonly limit: keyof Limits;
  readonly retryAfterMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** When a slot of a concurrency limit becomes free is unknown. */
const SLOT_WAIT_MS = 1000;

export const dayOf = (nowMs: number): number => Math.floor(nowMs / DAY_MS);
export const perMinute = (limit: number): CellRate => ({ limit, periodMs: MINUTE_MS });

/**
 * Undefined: accepted. Tokens and audio seconds are known only afterwards, so a caller
 * with any left is accepted and charged later: a long recording may exceed the limit
 * once, and the next request waits until that is paid.
 */
export function refusalOf(
  limits: Limits,
  use: LimitUse,
  nowMs: number,
): RateLimitRefusal | undefined {
  for (const limit of LIMIT_NAMES) {
    const retryAfterMs = limits[limit] > 0 ? WAITS[limit](limits[limit], use, nowMs) : 0;
    if (retryAfterMs > 0) return { limit, retryAfterMs };
  }
  return undefined;
}

const WAITS: Readonly<
  Record<keyof Limits, (limit: number, use: LimitUse, nowMs: number) => number>
> = {
  requestsPerDay: (limit, { day, dayCount }, nowMs) =>
    day === dayOf(nowMs) && dayCount >= limit ? (day + 1) * DAY_MS - nowMs : 0,
  requestsPerMinute: (limit, use, nowMs) => waitMs(perMinute(limit), use.requestsPaidMs, 1, nowMs),
  tokensPerMinute: (limit, use, nowMs) => waitMs(perMinute(limit), use.tokensPaidMs, 1, nowMs),
  audioSecondsPerMinute: (limit, use, nowMs) => waitMs(perMinute(limit), use.audioPaidMs, 1, nowMs),
  concurrentRequests: (limit, use) => (use.running >= limit ? SLOT_WAIT_MS : 0),
};

export interface Charge {
  readonly tokens: number;
  readonly audioSeconds: number;
}

export function rateLimitStatusOf(limits: Limits, use: LimitUse, nowMs: number): RateLimitStatus {
  const allowance = (limit: number, paidMs: number): Allowance | undefined =>
    limit > 0
      ? {
          limit,
          remaining: remaining(perMinute(limit), paidMs, nowMs),
          resetMs: backlogMs(paidMs, nowMs),
        }
      : undefined;
  return {
    requests: allowance(limits.requestsPerMinute, use.requestsPaidMs),
    tokens: allowance(limits.tokensPerMinute, use.tokensPaidMs),
    audioSeconds: allowance(limits.audioSecondsPerMinute, use.audioPaidMs),
  };
}
