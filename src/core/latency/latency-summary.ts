/** Milliseconds per phase; absent while a phase has not been reached. */
export interface LatencyPhases {
  /** Enqueue to slot leased. */
  readonly queueWaitMs?: number;
  /** The part of queueWaitMs spent waiting for a batch window. */
  readonly batchWaitMs?: number;
  /** gRPC call sent to settled: the worker's answer, or the deadline or cancel before it. */
  readonly grpcMs?: number;
  /** The part of grpcMs for preparation and waiting for the device; absent unless the worker answered. */
  readonly readyMs?: number;
  /** Enqueue to settled. */
  readonly totalMs?: number;
}

/** Times of one request on one monotonic clock, in milliseconds. */
export interface LatencyStamps {
  readonly enqueuedAtMs: number;
  dequeuedAtMs: number | undefined;
  /** Summed over attempts. */
  batchWaitMs: number;
  grpcStartedAtMs: number | undefined;
  /** Milliseconds, as reported by the worker. */
  readyMs: number | undefined;
}

/** Phases reached so far. `settledAtMs` ends an open phase. */
export function summarize(stamps: LatencyStamps, settledAtMs?: number): LatencyPhases {
  const { enqueuedAtMs, dequeuedAtMs, grpcStartedAtMs } = stamps;
  return {
    ...(dequeuedAtMs !== undefined && { queueWaitMs: dequeuedAtMs - enqueuedAtMs, batchWaitMs: stamps.batchWaitMs }),
    ...(grpcStartedAtMs !== undefined && settledAtMs !== undefined && { grpcMs: settledAtMs - grpcStartedAtMs }),
    ...(stamps.readyMs !== undefined && { readyMs: stamps.readyMs }),
    ...(settledAtMs !== undefined && { totalMs: settledAtMs - enqueuedAtMs }),
  };
}
