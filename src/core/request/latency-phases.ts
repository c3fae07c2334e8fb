/** Milliseconds per phase; absent while a phase has not been reached. */
export interface LatencyPhases {
  /** Enqueue to slot leased. */
  readonly queueWaitMs?: number;
  /** The part of queueWaitMs spent waiting for a batch window. */
  readonly batchWaitMs?: number;
  /**
   * gRPC call sent to settled: the worker's answer, or the deadline or cancel before it.
   */
  readonly grpcMs?: number;
  /**
   * The part of grpcMs for preparation and waiting for the device; absent unless
   * the worker answered.
   */
  readonly readyMs?: number;
  /** Enqueue to settled. */
  readonly totalMs?: number;
}
