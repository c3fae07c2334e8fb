import { type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

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

/**
 * What an answer asks to wait: `retry-after-ms`, else `Retry-After` in seconds or as a
 * date. `nowMs` is wall-clock time.
 */
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

function numberIn(header: string | readonly string[] | undefined) {
  if (typeof header !== 'string' || !/^\d+(\.\d+)?$/.test(header.trim())) return undefined;
  return Number(header);
}
