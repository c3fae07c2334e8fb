/** Milliseconds per phase; absent while a phase has not been reached. */
export interface LatencyPhases {
  /** Enqueue to slot leased. */
  readonly queueWaitMs?: number;
  /** The part of queueWaitMs spent waiting for a batch window. */
  readonly batchWaitMs?: number;
  /** gRPC call sent to answered, or to settled when the caller was settled first (deadline, cancel). */
  readonly grpcMs?: number;
  /** The part of grpcMs in which it was prepared and waited for the device; absent unless the worker answered. */
  readonly readyMs?: number;
  /** Enqueue to settled. */
  readonly totalMs?: number;
}

/** Instants of one request on one monotonic clock, in milliseconds. */
export interface LatencyStamps {
  readonly enqueuedAtMs: number;
  dequeuedAtMs: number | undefined;
  /** Summed over attempts. */
  batchWaitMs: number;
  grpcStartedAtMs: number | undefined;
  grpcEndedAtMs: number | undefined;
  /** Milliseconds, as the worker tells. */
  readyMs: number | undefined;
}

/** The phases that the stamps allow to tell (seeds/scheduling "Latency Tracker"). `settledAtMs` closes what is still open. */
export function summarize(stamps: LatencyStamps, settledAtMs?: number): LatencyPhases {
  const { enqueuedAtMs, dequeuedAtMs, grpcStartedAtMs } = stamps;
  const grpcEndedAtMs = stamps.grpcEndedAtMs ?? settledAtMs;
  return {
    ...(dequeuedAtMs !== undefined && { queueWaitMs: dequeuedAtMs - enqueuedAtMs, batchWaitMs: stamps.batchWaitMs }),
    ...(grpcStartedAtMs !== undefined && grpcEndedAtMs !== undefined && { grpcMs: grpcEndedAtMs - grpcStartedAtMs }),
    ...(stamps.readyMs !== undefined && { readyMs: stamps.readyMs }),
    ...(settledAtMs !== undefined && { totalMs: settledAtMs - enqueuedAtMs }),
  };
}
