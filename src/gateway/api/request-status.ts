import { type RequestView } from '../scheduler/request-view.js';

/** A `RequestView` in the spelling of the public API. */
export interface RequestStatus {
  readonly request_id: string;
  readonly model: string;
  readonly priority: string;
  readonly state: string;
  readonly position: number | null;
  readonly waits_for: string | null;
  readonly aged: boolean;
  readonly waited_ms: number;
  readonly attempts: number;
  readonly code: string | null;
  readonly phases: Readonly<Record<'queue_wait_ms' | 'batch_wait_ms' | 'grpc_ms' | 'total_ms', number | null>>;
}

export function requestStatus(view: RequestView): RequestStatus {
  const { id, model, priority, state, position, waitsFor, aged, waitedMs, attempts, code, phases } = view;
  return {
    request_id: id,
    model,
    priority,
    state,
    position: position ?? null,
    waits_for: waitsFor ?? null,
    aged,
    waited_ms: waitedMs,
    attempts,
    code: code ?? null,
    phases: {
      queue_wait_ms: phases.queueWaitMs ?? null,
      batch_wait_ms: phases.batchWaitMs ?? null,
      grpc_ms: phases.grpcMs ?? null,
      total_ms: phases.totalMs ?? null,
    },
  };
}
