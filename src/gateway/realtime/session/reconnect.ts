import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { type DomainError } from '../../../core/errors/domain-error.js';

/** Between two attempts to get a slot. */
export const PAUSES = { firstMs: 50, longestMs: 1000 };

/** How a session that has no stream gets one. */
export interface Recovery {
  /** Another worker takes over: the client gets a warning. */
  readonly reported?: boolean;
  /** Before the first attempt. */
  readonly afterMs?: number;
  readonly worthWaiting?: (error: DomainError) => boolean;
}

export interface ReconnectOptions {
  /** @throws DomainError when there is no slot. */
  connect(this: void): void;
  worthWaiting(this: void, error: DomainError): boolean;
  /** Before the first attempt. */
  readonly afterMs: number;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Connects as soon as a worker has a slot, trying again after growing pauses.
 * @returns why it did not, when the time is up or waiting is pointless; undefined when it
 *   did, or `signal` was aborted
 */
export async function reconnect(
  options: ReconnectOptions,
): Promise<DomainError | undefined> {
  const { connect, worthWaiting, afterMs, limitMs, signal } = options;
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal }).catch(() => undefined);
  const endMs = performance.now() + limitMs;
  if (afterMs > 0) await pause(afterMs);
  for (let failures = 1; !signal.aborted; failures += 1) {
    const pauseMs = backoffMs(failures, PAUSES);
    try {
      connect();
      return undefined;
    } catch (error) {
      const failure = error as DomainError;
      if (performance.now() + pauseMs > endMs || !worthWaiting(failure)) return failure;
    }
    await pause(pauseMs);
  }
  return undefined;
}
