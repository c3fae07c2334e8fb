import { type RequestView } from '../../core/dispatch/request-view.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { type RequestKey, type RequestRef } from '../../core/request/request-key.js';
import { type RequestPriority } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type TaskRequest, type WorkerReply } from '../../worker-client/worker-task.js';

/**
 * Where requests wait until a worker has them: in this process, or in a store that
 * gateways share (D-19). One contract suite holds for every queue: `test/contract/queue`.
 */
export interface SchedulerQueue {
  /** Whether the dispatcher of this process decides its order. */
  readonly isEmbedded: boolean;

  /** A request that comes now finds a worker of the model that has no other. */
  isIdle(model: string): boolean;

  /**
   * Milliseconds until such a request would start; 0: at once, or unknown.
   * @param meanMs from start to answer, of the model lately
   */
  startMs(request: ScheduledRequest, meanMs: number): number;

  /**
   * Queues the request, and reports what happens to it until it has ended.
   * @returns why the request is rejected, or that it waits. Undefined: a later report
   *   says whether it is accepted.
   */
  enqueue(request: TaskRequest, reports: QueueReports): DomainError | 'accepted' | undefined;

  /**
   * Removes the request, or tells the worker that has it to stop. Its caller is settled
   * already; nothing is reported any more. Never rejects.
   * @param workerId of the worker that has it; undefined while it waits or
   *   is being queued
   */
  cancel(
    request: ScheduledRequest,
    reason: CancelReason,
    workerId: string | undefined,
  ): Promise<void>;

  /**
   * What stands before a request that waits: decides its error code and its Retry-After.
   */
  backlog(request: ScheduledRequest): {
    /** Some worker takes work of the model. */
    readonly hasReady: boolean;
    /** Requests that go before the one in question. */
    readonly waiting: number;
    /** Milliseconds until it would start if it came now; absent: unknown. */
    readonly startInMs?: number | undefined;
  };

  /** Undefined: not in this queue. */
  find(ref: RequestRef): RequestView | undefined | Promise<RequestView | undefined>;
}

/**
 * What a queue reports about one gateway's requests. A report about a request that has
 * settled changes nothing.
 */
export interface QueueReports {
  /** The request waits, and can be cancelled. */
  accepted(key: RequestKey): void;
  /** The request was refused before it waited. */
  rejected(key: RequestKey, error: DomainError): void;
  /** A worker has it, which also watches its inference limit. */
  leased(
    key: RequestKey,
    lease: {
      readonly workerId: string;
      /** Id of the group; requests that were sent together share it. */
      readonly groupId: string;
      /** It is BATCH and was taken because of its age (D-03). */
      readonly aged: boolean;
    },
  ): void;
  /** Its worker died (`lost`), or gave it back, which is no attempt: it waits again. */
  requeued(key: RequestKey, lost: boolean): void;
  reprioritized(key: RequestKey, priority: RequestPriority): void;
  /**
   * The worker is done; the answer may still be fetched.
   * @param groupedAtMs monotonic milliseconds at which it had waited there for the rest of
   *   its group, which took `batchWaitMs`
   */
  computed(key: RequestKey, groupedAtMs: number, batchWaitMs: number): void;
  ended(key: RequestKey, end: QueueEnd): void;
}

export type QueueEnd =
  | { readonly type: 'completed'; readonly reply: WorkerReply }
  | { readonly type: 'failed'; readonly error: unknown }
  /**
   * Its queue deadline passed (D-07), or its worker died and it cannot be
   * sent again (D-06).
   */
  | { readonly type: 'expired' | 'lost' }
  /** Another gateway or an operator there stopped it. */
  | { readonly type: 'stopped'; readonly reason: CancelReason };

/** What waits and runs for one model. */
export interface QueueDepth {
  readonly model: string;
  readonly realtime: number;
  readonly batch: number;
  /** Requests that workers have. */
  readonly running: number;
  /** Milliseconds; absent when nothing waits. */
  readonly oldestWaitMs?: number;
}
