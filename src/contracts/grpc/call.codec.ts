import { RequestPriority } from '../../core/request/request-priority.js';
import { type Execution, type Group, Priority } from './generated/switchyard/v1/common.js';

export { type CancelRequest, type CancelResponse } from './generated/switchyard/v1/common.js';

/** What every call to a worker carries besides its own fields. */
export interface CallEnvelope {
  readonly requestId: string;
  readonly priority: RequestPriority;
  /** Calls dispatched together (D-24). */
  readonly group: CallGroup;
}

export interface CallGroup {
  readonly id: string;
  /** Calls sent with this id, 1 or more. */
  readonly size: number;
  /** Never on the wire, only with pulled work: members of one engine call with such a request at most. */
  readonly mostTogether?: number;
}

/** How one request was computed; milliseconds on the worker's clock. */
export interface CallExecution {
  readonly prepMs: number;
  readonly readyWaitMs: number;
  readonly deviceMs: number;
  readonly batchSize: number;
  /** Names the engine call; empty when the worker tells none. */
  readonly batchId: string;
}

export const encodeEnvelope = (envelope: CallEnvelope) => ({
  requestId: envelope.requestId,
  priority: envelope.priority === RequestPriority.REALTIME ? Priority.REALTIME : Priority.BATCH,
  group: { id: envelope.group.id, size: envelope.group.size },
});

/** A call without a group is a group of its own. */
export function decodeEnvelope(message: {
  readonly requestId: string;
  readonly priority: Priority;
  readonly group?: Group;
}): CallEnvelope {
  return {
    requestId: message.requestId,
    priority: message.priority === Priority.REALTIME ? RequestPriority.REALTIME : RequestPriority.BATCH,
    group: { id: message.group?.id || message.requestId, size: Math.max(1, message.group?.size ?? 1) },
  };
}

export const encodeExecution = (execution: CallExecution): Execution => ({ ...execution });

/** A worker that tells nothing about the execution computed the request alone, in unknown time. */
export const decodeExecution = (message: Execution | undefined): CallExecution => ({
  prepMs: message?.prepMs ?? 0,
  readyWaitMs: message?.readyWaitMs ?? 0,
  deviceMs: message?.deviceMs ?? 0,
  batchSize: Math.max(1, message?.batchSize ?? 1),
  batchId: message?.batchId ?? '',
});
