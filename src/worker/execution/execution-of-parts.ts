import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';

/**
 * Execution of one request that was computed in parts: each engine call counts once, however
 * many of its parts it had. `batchSize` and `readyWaitMs` are means.
 */
export function executionOfParts(parts: readonly CallExecution[]): CallExecution {
  const calls = [...new Map(parts.map(one => [one.batchId, one])).values()];
  const sum = (all: readonly CallExecution[], pick: (one: CallExecution) => number): number =>
    all.reduce((total, one) => total + pick(one), 0);
  const size = sum(calls, one => one.batchSize) / Math.max(1, calls.length);
  return {
    prepMs: sum(parts, one => one.prepMs),
    readyWaitMs: sum(parts, one => one.readyWaitMs) / Math.max(1, parts.length),
    deviceMs: sum(calls, one => one.deviceMs),
    batchSize: Math.max(1, Math.round(size)),
    batchId: calls.at(-1)?.batchId ?? '',
    shareMs: sum(parts, one => one.deviceMs / Math.max(1, one.batchSize)),
  };
}
