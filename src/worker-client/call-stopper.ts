import { setTimeout as pause } from 'node:timers/promises';
import { Metadata } from '@grpc/grpc-js';
import { type CancelRequest, type CancelResponse } from '@switchyard/worker-protocol/call.codec.js';
import { type WorkerChannel } from '@switchyard/worker-protocol/worker-channel.js';
import { WorkerLostError } from '../core/request/worker-lost.js';
import { type ModelKind } from '../platform/config/model-spec.js';
import { type CallProgress } from './worker-call.js';

interface Stopping {
  /** A call or a live stream. */
  readonly call: CallProgress;
  /** Limit of the first Cancel RPC. */
  readonly timeoutMs: number;
  /** How long the worker may take to end a call that was cancelled. */
  readonly resetAfterMs: number;
  /**
   * One Cancel, answered until `deadline` (epoch milliseconds). Undefined: no
   * answer. Never rejects.
   */
  ask(deadline: number): Promise<boolean | undefined>;
  /** The call was reset, because the worker did not end it in time. */
  onReset(): void;
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
  void stopping.call.finished.then(() => ending.abort());
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
  const { call, timeoutMs, resetAfterMs } = stopping;
  const resetAtMs = performance.now() + resetAfterMs;
  let acknowledged = isAcknowledged;
  let waitMs = timeoutMs;
  for (;;) {
    const leftMs = resetAtMs - performance.now();
    if (!ended.aborted && leftMs > 0)
      await pause(Math.min(waitMs, leftMs), undefined, { signal: ended }).catch(() => undefined);
    if (ended.aborted) return;
    if (performance.now() >= resetAtMs) {
      const unended = `A cancelled call was not ended within ${resetAfterMs} ms.`;
      call.lose(new WorkerLostError('abandoned', unended));
      return stopping.onReset();
    }
    acknowledged ||= (await stopping.ask(Date.now() + waitMs)) === true;
    waitMs = acknowledged ? resetAfterMs : Math.min(2 * waitMs, MAX_PAUSE_MS);
  }
}

/** One Cancel RPC. Undefined: no answer. Never rejects. */
export const sendCancel = (
  channel: WorkerChannel,
  kind: ModelKind,
  request: CancelRequest,
  deadline: number,
) =>
  channel
    .unary<CancelResponse>(done =>
      channel.control(kind).cancel(request, new Metadata(), { deadline }, done),
    )
    .then(
      ({ acknowledged }) => acknowledged,
      () => undefined,
    );
