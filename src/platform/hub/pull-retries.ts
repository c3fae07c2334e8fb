import { backoffMs } from '../../core/shared/backoff.js';
import { type RetryTiming } from '../http/retry-timing.js';
import { HubError } from './hub-error.js';

/** Attempts in a row that bring nothing; a download that moves on is never given up. */
const FRUITLESS_ATTEMPTS = 5;
const OWN_WAITS = { firstMs: 1000, longestMs: 30_000 };
/** A server that asks for more wants the person to come back, not the program. */
const LONGEST_ASKED_WAIT_MS = 300_000;

export interface RetriedPull<T> {
  readonly attempt: () => Promise<T>;
  /** Did the last attempt bring anything? */
  readonly progressed: () => boolean;
  readonly waiting: (ms: number, why: string) => void;
  readonly signal: AbortSignal;
  readonly timing: RetryTiming;
}

/** @throws what the last attempt threw; the abort's reason */
export async function withPullRetries<T>({ attempt, progressed, waiting, signal, timing }: RetriedPull<T>): Promise<T> {
  for (let fruitless = 0; ;) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HubError) || !error.transient) throw error;
      fruitless = progressed() ? 1 : fruitless + 1;
      const ms = waitMs(fruitless, error.retryAfterMs, timing);
      if (fruitless >= FRUITLESS_ATTEMPTS || ms > LONGEST_ASKED_WAIT_MS) throw error;
      waiting(ms, error.message);
      await timing.sleep(ms, signal);
    }
  }
}

function waitMs(fruitless: number, askedMs: number | undefined, timing: RetryTiming): number {
  if (askedMs !== undefined) return askedMs;
  return Math.round(backoffMs(fruitless, OWN_WAITS, () => timing.random()));
}
