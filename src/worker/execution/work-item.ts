import { type RequestPriority } from '../../core/request/request-priority.js';

/** One request in the micro-batcher. */
export interface WorkItem<Input> {
  readonly id: string;
  readonly priority: RequestPriority;
  /** Calls that were dispatched together (D-24); size 1: alone. */
  readonly group: WorkGroup;
  readonly input: Input;
  /** Shared by the parts of one long request, which take turns with other requests. */
  readonly flow?: string;
  /** Aborted by the Cancel RPC, by the caller's disconnect or by shutdown. */
  readonly signal: AbortSignal;
}

export interface WorkGroup {
  readonly id: string;
  readonly size: number;
  /**
   * Aged BATCH: its share of the turns while REALTIME waits too (D-03); absent: not aged.
   */
  readonly agingShare?: number;
}

/** How one request was computed; milliseconds on this process's clock. */
export interface Execution {
  /** CPU preparation alone, without the wait before it. */
  readonly prepMs: number;
  /** Prepared and waiting for the device. */
  readonly readyWaitMs: number;
  /** The engine call that computed it. */
  readonly deviceMs: number;
  /** Members of that engine call, this one included. */
  readonly batchSize: number;
  /** Id of that engine call, equal for all its members. */
  readonly batchId: string;
  /** Its part of the device's time; absent: an equal one. */
  readonly shareMs?: number;
}

export interface Computed<Value> {
  readonly value: Value;
  readonly execution: Execution;
}
