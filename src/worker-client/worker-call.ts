import { type Writable } from 'node:stream';
import { type CallGroup } from '@switchyard/worker-protocol/call.codec.js';
import { type DeviceProgress } from '../core/request/device-progress.js';
import { WorkerLostError } from '../core/request/worker-lost.js';
import { SinkWriter } from './sink-writer.js';
import { type WorkerReply, type TaskRequest } from './worker-task.js';

export interface CallRequest {
  /** The fields of the request that the worker gets. */
  readonly request: Pick<TaskRequest, 'key' | 'priority' | 'tenant' | 'payload' | 'traceparent'>;
  readonly group: CallGroup;
  /** Of its tenant (D-25); absent: 1. */
  readonly tenantWeight?: number;
}

/** One RPC in flight. */
export interface WorkerCall {
  /**
   * Rejects with `DomainError`; `worker_lost` when another worker may take
   * the request (D-06).
   */
  readonly reply: Promise<WorkerReply>;
  /** The worker has ended the call: its slot is free. Never rejects. */
  readonly finished: Promise<void>;
  /**
   * How far its worker is with it (D-49). Undefined: the worker does not know it. Rejects
   * when the worker does not answer.
   */
  progress(): Promise<DeviceProgress | undefined>;
}

/**
 * The worker is gone and the request was never sent, so another worker may
 * take it (D-06).
 */
export const wentAway = (worker: string): WorkerLostError =>
  new WorkerLostError('unsent', `Worker ${worker} went away before the request was sent.`);

export function lostCall(worker: string): WorkerCall {
  const reply = Promise.reject(wentAway(worker));
  reply.catch(() => undefined);
  return { reply, finished: Promise.resolve(), progress: () => Promise.resolve(undefined) };
}

/**
 * How far one RPC is, from its request to its end. Its caller may disconnect before that.
 */
export class CallProgress {
  /** False while the upload is read from disk: the worker has not received the call. */
  sent = false;
  /**
   * The answer is no longer wanted: an unsent call is not sent, output of a running
   * one is discarded.
   */
  abandoned = false;
  /** The worker has ended it. */
  hasEnded = false;
  /** Why it was reset from this side. */
  lostBy: WorkerLostError | undefined;
  #rpc: { cancel(): void } | undefined;
  #writer: SinkWriter | undefined;
  readonly #end = Promise.withResolvers<void>();
  readonly finished = this.#end.promise;
  readonly sinceMs = performance.now();

  /** @param attempt names this attempt at its request (D-56) */
  constructor(readonly attempt: string) {}

  began(rpc: { cancel(): void }): void {
    this.#rpc = rpc;
    this.sent = true;
  }

  ended(): void {
    this.hasEnded = true;
    this.#end.resolve();
  }

  /** Sends the output of the call to `sink`, until the call is abandoned. */
  writeTo(sink: Writable): SinkWriter {
    this.#writer = new SinkWriter(sink);
    return this.#writer;
  }

  abandon(): void {
    this.abandoned = true;
    this.#writer?.abandon();
  }

  /** Ends the call from this side, because the worker does not. It has finished then. */
  lose(error: WorkerLostError): void {
    this.lostBy = error;
    this.abandon();
    this.#rpc?.cancel();
  }
}
