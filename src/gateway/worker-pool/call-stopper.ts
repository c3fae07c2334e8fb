import { setTimeout as pause } from 'node:timers/promises';
import { type CancelRequest } from '../../contracts/grpc/call.codec.js';

export interface StopOptions {
  /** One Cancel RPC, answered until `deadline` (epoch milliseconds). Undefined: no answer. Never rejects. */
  ask(request: CancelRequest, deadline: number): Promise<boolean | undefined>;
  /** Limit of the first Cancel. */
  readonly timeoutMs: number;
  /** How long the worker may take to end the call; then it is reset. */
  readonly resetAfterMs: number;
  /** The worker did not end the call in time. */
  onUnended(): void;
}

/** What is stopped: a call or a live stream. */
export interface Stoppable {
  /** The worker has ended it. Never rejects. */
  readonly finished: Promise<void>;
}

/** Between two Cancels of a call that the worker has not received yet. */
const OVERTAKEN_PAUSE_MS = 5;
/** Longest pause between two Cancels, and longest wait for an answer to one. */
const MAX_PAUSE_MS = 5000;

/**
 * Stops a call: asks the worker until it acknowledges, for as long as the call lives, and resets it when the worker has
 * not ended it within `resetAfterMs`. A worker that was stopped for a while, or whose connection was replaced, still
 * receives the cancel.
 *
 * @returns whether the worker acknowledged within `timeoutMs`; the rest continues in the background
 */
export async function stopCall(call: Stoppable, request: CancelRequest, options: StopOptions): Promise<boolean> {
  const ending = new AbortController();
  void call.finished.then(() => ending.abort());
  const acknowledged = await askAtOnce(request, ending.signal, options);
  if (!ending.signal.aborted) void insist({ request, acknowledged }, ending.signal, options);
  return acknowledged;
}

/** A Cancel can overtake its own call while the upload is on its way, so an unknown request is asked for again. */
async function askAtOnce(request: CancelRequest, ended: AbortSignal, options: StopOptions): Promise<boolean> {
  const deadline = Date.now() + options.timeoutMs;
  while (!ended.aborted && Date.now() < deadline) {
    const acknowledged = await options.ask(request, deadline);
    if (acknowledged !== false) return acknowledged === true;
    await pause(OVERTAKEN_PAUSE_MS);
  }
  return false;
}

interface Stopping {
  readonly request: CancelRequest;
  acknowledged: boolean;
}

async function insist(stopping: Stopping, ended: AbortSignal, options: StopOptions): Promise<void> {
  const resetAtMs = performance.now() + options.resetAfterMs;
  let waitMs = options.timeoutMs;
  for (;;) {
    const leftMs = resetAtMs - performance.now();
    if (!ended.aborted && leftMs > 0)
      await pause(Math.min(waitMs, leftMs), undefined, { signal: ended }).catch(() => undefined);
    if (ended.aborted) return;
    if (performance.now() >= resetAtMs) return options.onUnended();
    if (!stopping.acknowledged)
      stopping.acknowledged = (await options.ask(stopping.request, Date.now() + waitMs)) === true;
    waitMs = stopping.acknowledged ? options.resetAfterMs : Math.min(2 * waitMs, MAX_PAUSE_MS);
  }
}
