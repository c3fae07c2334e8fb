import { type CallGroup } from '../../contracts/grpc/call.codec.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { type WorkerReply, type WorkerTask } from './worker-task.js';

/** What a worker is sent of a request. */
export type CalledRequest = Pick<
  ScheduledRequest<WorkerTask>,
  'key' | 'priority' | 'tenant' | 'payload' | 'traceparent'
>;

export interface CallRequest {
  readonly request: CalledRequest;
  readonly group: CallGroup;
  /** Of its tenant (D-25); absent: 1. */
  readonly tenantWeight?: number;
}

/** One RPC in flight. */
export interface WorkerCall {
  /** Rejects with `DomainError`; `worker_lost` when another worker may take the request (D-06). */
  readonly reply: Promise<WorkerReply>;
  /** The worker has ended the call: its slot is free. Never rejects. */
  readonly finished: Promise<void>;
}

/** A call whose caller may disconnect before it ends. */
export interface StartedCall extends WorkerCall {
  /** False while the upload is read from disk: the worker has not received the call. */
  readonly sent: boolean;
  /** The answer is no longer wanted: an unsent call is not sent, audio of a running one is discarded. */
  abandon(): void;
  /** Ends the call from this side, for workers that do not end it: it has finished then. */
  reset(): void;
}

/** A call to a worker that is gone: never sent, so another worker may take the request (D-06). */
export function lostCall(worker: string): WorkerCall {
  const reply = Promise.reject(
    new WorkerLostError('unsent', `Worker ${worker} went away before the request was sent.`),
  );
  reply.catch(() => undefined);
  return { reply, finished: Promise.resolve() };
}
