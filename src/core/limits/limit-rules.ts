import { backlogMs, type CellRate, remaining, take, waitMs } from './cell-rate.js';

/** The order of the checks; the first limit that rejects is reported. */
export const LIMIT_NAMES = [
  // Per UTC day.
  'requestsPerDay',
  'requestsPerMinute',
  'tokensPerMinute',
  'audioSecondsPerMinute',
  'concurrentRequests',
] as const;

export type LimitName = (typeof LIMIT_NAMES)[number];

/** Limits of one caller; 0 = unlimited. */
export type Limits = Readonly<Record<LimitName, number>>;

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

export const UNUSED: LimitUse = {
  requestsPaidMs: 0,
  tokensPaidMs: 0,
  audioPaidMs: 0,
  day: 0,
  dayCount: 0,
  running: 0,
};

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
  readonly limit: LimitName;
  readonly retryAfterMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** When a slot of a concurrency limit becomes free is unknown. */
const SLOT_WAIT_MS = 1000;

const dayOf = (nowMs: number): number => Math.floor(nowMs / DAY_MS);
const perMinute = (limit: number): CellRate => ({ limit, periodMs: MINUTE_MS });

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
  Record<LimitName, (limit: number, use: LimitUse, nowMs: number) => number>
> = {
  requestsPerDay: (limit, { day, dayCount }, nowMs) =>
    day === dayOf(nowMs) && dayCount >= limit ? (day + 1) * DAY_MS - nowMs : 0,
  requestsPerMinute: (limit, use, nowMs) =>
    waitMs(perMinute(limit), use.requestsPaidMs, 1, nowMs),
  tokensPerMinute: (limit, use, nowMs) =>
    waitMs(perMinute(limit), use.tokensPaidMs, 1, nowMs),
  audioSecondsPerMinute: (limit, use, nowMs) =>
    waitMs(perMinute(limit), use.audioPaidMs, 1, nowMs),
  concurrentRequests: (limit, use) => (use.running >= limit ? SLOT_WAIT_MS : 0),
};

/** Usage after one more accepted request. The caller counts `running` itself. */
export function withRequest(limits: Limits, use: LimitUse, nowMs: number): LimitUse {
  const day = dayOf(nowMs);
  return {
    ...use,
    day,
    dayCount: (use.day === day ? use.dayCount : 0) + 1,
    requestsPaidMs: paid(limits.requestsPerMinute, use.requestsPaidMs, 1, nowMs),
  };
}

export interface Charge {
  readonly tokens: number;
  readonly audioSeconds: number;
}

export function withCharge(
  limits: Limits,
  use: LimitUse,
  { tokens, audioSeconds }: Charge,
  nowMs: number,
): LimitUse {
  return {
    ...use,
    tokensPaidMs: paid(limits.tokensPerMinute, use.tokensPaidMs, tokens, nowMs),
    audioPaidMs: paid(limits.audioSecondsPerMinute, use.audioPaidMs, audioSeconds, nowMs),
  };
}

const paid = (limit: number, paidMs: number, units: number, nowMs: number): number =>
  limit > 0 && units > 0 ? take(perMinute(limit), paidMs, units, nowMs) : paidMs;

export function rateLimitStatusOf(
  limits: Limits,
  use: LimitUse,
  nowMs: number,
): RateLimitStatus {
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

/** No debt, nothing running and no count of today: it need not be stored. */
export const isUnused = (use: LimitUse, nowMs: number): boolean =>
  use.running === 0 &&
  use.day !== dayOf(nowMs) &&
  Math.max(use.requestsPaidMs, use.tokensPaidMs, use.audioPaidMs) <= nowMs;
