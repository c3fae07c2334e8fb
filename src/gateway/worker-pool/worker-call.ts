import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { type WorkerReply, type WorkerTask } from './worker-task.js';

/** Calls sent together (D-24). */
export interface CallGroup {
  readonly id: string;
  readonly size: number;
  /** They are aged BATCH: the share of the device's turns that such calls get beside REALTIME (D-03). */
  readonly agingShare?: number;
}

export interface CallRequest {
  readonly request: ScheduledRequest<WorkerTask>;
  readonly group: CallGroup;
}

/** One RPC on its way. */
export interface WorkerCall {
  /** Rejects with `DomainError`; `worker_lost` when another worker may take the request (D-06). */
  readonly reply: Promise<WorkerReply>;
  /** The worker let go of the work: its slot is free. Never rejects. */
  readonly finished: Promise<void>;
}

/** A call whose caller may go away before it ends. */
export interface StartedCall extends WorkerCall {
  /** False while the request is being read from disk: the worker has not heard of it. */
  readonly sent: boolean;
  /** Nobody wants the answer any more: an unsent call is not sent, audio of a running one is thrown away. */
  abandon(): void;
  /** Breaks the call off from this side: it has finished then, whatever the worker does. For workers that do not end it. */
  reset(): void;
}

/** The answer to a call for a worker that is not there: never sent, so another worker may take it (D-06). */
export function lostCall(worker: string): WorkerCall {
  const reply = Promise.reject(
    new WorkerLostError('unsent', `Worker ${worker} went away before the request was sent.`),
  );
  reply.catch(() => undefined);
  return { reply, finished: Promise.resolve() };
}
