import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`, or as soon as `signal` aborts. Never rejects. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);
