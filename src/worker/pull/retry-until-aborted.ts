import { setTimeout as sleep } from 'node:timers/promises';
import { type Backoff, backoffMs } from '@switchyard/engine-api/backoff.js';
import { JobLost } from './request-queue.js';

interface RetryOptions {
  /** Ends the retries. */
  readonly signal: AbortSignal;
  /** Called for every failure, with its number from 1. */
  readonly failed?: (error: Error, attempt: number) => void;
}

const PAUSES: Backoff = { firstMs: 100, longestMs: 5000 };

/** Retries until it succeeds. @throws JobLost at once; the signal's reason */
export async function retryUntilAborted<T>(
  work: (attempt: number) => Promise<T>,
  { signal, failed }: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      if (error instanceof JobLost) throw error;
      failed?.(error as Error, attempt);
      await sleep(backoffMs(attempt, PAUSES), undefined, { signal }).catch(
        () => undefined,
      );
    }
  }
}
