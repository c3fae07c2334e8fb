import { type CallExecution, type CallGroup } from '../../contracts/grpc/call.codec.js';
import { type RequestPriority } from '../../core/request/request-priority.js';

/** One request in the micro-batcher. */
export interface WorkItem<Input> {
  readonly id: string;
  readonly priority: RequestPriority;
  /** Calls that were dispatched together (D-24); size 1: alone. */
  readonly group: CallGroup;
  readonly input: Input;
  /** Shared by the parts of one long request, which take turns with other requests. */
  readonly flow?: string;
  /** Aborted by the Cancel RPC, by the caller's disconnect or by shutdown. */
  readonly signal: AbortSignal;
}

export interface Computed<Value> {
  readonly value: Value;
  readonly execution: CallExecution;
}
