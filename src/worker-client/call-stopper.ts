import { setTimeout as pause } from 'node:timers/promises';

/** What is stopped: a call or a live stream. */
interface Stopping {
  /** Limit of the first Cancel RPC. */
  readonly timeoutMs: number;
  /** How long the worker may take to end a call that was cancelled. */
  readonly resetAfterMs: number;
  /** The worker has ended it. Never rejects. */
  readonly finished: Promise<void>;
  /**
   * One Cancel RPC, answered until `deadline` (epoch milliseconds). Undefined: no
   * answer. Never rejects.
   */
  ask(deadline: number): Promise<boolean | undefined>;
  /** The worker did not end the call in time. */
  onUnended(): void;
}

/** Between two Cancels of a call that the worker has not received yet. */
const OVERTAKEN_PAUSE_MS = 5;
/** Longest pause between two Cancels, and longest wait for an answer to one. */
const MAX_PAUSE_MS = 5000;

/**
 * Stops a call: asks the worker until it acknowledges, for as long as the call lives, and
 * resets it when the worker has not ended it within `resetAfterMs`. A worker that was
 * stopped for a while, or whose connection was replaced, still receives the cancel.
 *
 * @returns whether the worker acknowledged within `timeoutMs`; the rest continues
 *   in the background
 */
export async function stopCall(stopping: Stopping): Promise<boolean> {
  const ending = new AbortController();
  void stopping.finished.then(() => ending.abort());
  const acknowledged = await askAtOnce(stopping, ending.signal);
  if (!ending.signal.aborted) void insist(stopping, acknowledged, ending.signal);
  return acknowledged;
}

/**
 * A Cancel can overtake its own call while the upload is on its way, so an unknown
 * request is asked for again.
 */
async function askAtOnce(stopping: Stopping, ended: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + stopping.timeoutMs;
  while (!ended.aborted && Date.now() < deadline) {
    const acknowledged = await stopping.ask(deadline);
    if (acknowledged !== false) return acknowledged === true;
    await pause(OVERTAKEN_PAUSE_MS);
  }
  return false;
}

async function insist(
  stopping: Stopping,
  isAcknowledged: boolean,
  ended: AbortSignal,
): Promise<void> {
  const { timeoutMs, resetAfterMs } = stopping;
  const resetAtMs = performance.now() + resetAfterMs;
  let acknowledged = isAcknowledged;
  let waitMs = timeoutMs;
  for (;;) {
    const leftMs = resetAtMs - performance.now();
    if (!ended.aborted && leftMs > 0)
      await pause(Math.min(waitMs, leftMs), undefined, { signal: ended }).catch(() => undefined);
    if (ended.aborted) return;
    if (performance.now() >= resetAtMs) return stopping.onUnended();
    acknowledged ||= (await stopping.ask(Date.now() + waitMs)) === true;
    waitMs = acknowledged ? resetAfterMs : Math.min(2 * waitMs, MAX_PAUSE_MS);
  }
}
