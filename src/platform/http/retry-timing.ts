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
