import { Injectable } from '@nestjs/common';
import { type CancelFilter } from '../../core/cancellation/cancellation-manager.js';
import { callersId, requestKey, type RequestRef } from '../../core/request/request-key.js';
import { priorityLevel, type RequestPriority } from '../../core/request/request-priority.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { DispatchLoop } from './dispatch-loop.js';
import { RequestQueues } from './request-queues.js';
import { RequestCanceller } from './request-canceller.js';
import { RequestIntake } from './request-intake.js';
import { isLive, matchesFilter, type RequestFilter, type RequestView } from '../../core/dispatch/request-view.js';
import { type ModelQueueDepth, type ModelWaiting, RequestViews } from './request-views.js';
import { ShutdownDrain } from './shutdown-drain.js';
import { type RequestSpec, type SubmittedRequest } from './submitted-request.js';

/** The API of the scheduler: submit, cancel, list, drain. */
@Injectable()
export class SchedulerService {
  #drained: Promise<void> | undefined;

  constructor(
    private readonly intake: RequestIntake,
    private readonly canceller: RequestCanceller,
    private readonly views: RequestViews,
    private readonly loop: DispatchLoop,
    private readonly shutdown: ShutdownDrain,
    private readonly queues: RequestQueues,
  ) {}

  /** False once the drain began: readiness follows it. */
  get accepting(): boolean {
    return this.intake.accepting;
  }

  /** True while the dispatch loop runs. */
  get running(): boolean {
    return this.loop.running;
  }

  /**
   * Throws `queue_full` (with retryAfterMs), `shutting_down`, `duplicate_request_id`, `model_unloaded`,
   * `model_not_found`.
   */
  submit(spec: RequestSpec): SubmittedRequest {
    return this.intake.submit(spec);
  }

  /**
   * True if this call stopped it. Its caller is settled at once; resolves when the worker was notified (at most 100
   * ms).
   * Its caller and operators can also stop a request that another gateway accepted.
   */
  async cancel(ref: RequestRef, reason: CancelReason): Promise<boolean> {
    if (await this.canceller.cancel(requestKey(ref), reason)) return true;
    if (reason !== 'client' && reason !== 'operator') return false;
    for (const queue of this.queues.all) if (await queue.cancelElsewhere(ref, reason)) return true;
    return false;
  }

  /**
   * Ids of those that this call stopped, oldest first; with a shared queue those of all gateways. An empty filter means
   * all.
   */
  async cancelMany(filter: RequestFilter, reason: CancelReason): Promise<string[]> {
    const { state } = filter;
    if (state !== undefined && !isLive({ state })) return [];
    const keys = new Set(await this.canceller.cancelMatching(ownFilter(filter), reason));
    for (const queue of this.queues.all) {
      const stopped = await queue.cancelMatching(view => matchesFilter(view, filter), reason);
      for (const key of stopped) keys.add(key);
    }
    return [...keys].map(callersId);
  }

  /**
   * Gives a waiting request another priority, also when another gateway accepted it.
   * @returns false when it does not wait. @throws DomainError `queue_unavailable`
   */
  async reprioritize(ref: RequestRef, priority: RequestPriority): Promise<boolean> {
    // The embedded queue first: it answers without Redis.
    for (const queue of [...this.queues.all].reverse()) if (await queue.reprioritize(ref, priority)) return true;
    return false;
  }

  /**
   * Waiting requests in dispatch order, then running ones, of all gateways that share a queue; with an ended `state`,
   * those that ended recently in this gateway.
   */
  list(filter: RequestFilter = {}): Promise<RequestView[]> {
    return this.views.list(filter);
  }

  /** A live request of this gateway, or one of the last thousand that ended; without its place in the queue. */
  find(ref: RequestRef): RequestView | undefined {
    return this.views.find(requestKey(ref));
  }

  /** As `find`, with its place in the queue, also when another gateway accepted it. */
  findAnywhere(ref: RequestRef): Promise<RequestView | undefined> {
    return this.views.findAnywhere(ref);
  }

  /** Milliseconds until a waiting or running request is probably answered. Undefined: unknown. */
  etaMs(ref: RequestRef): Promise<number | undefined> {
    return this.views.etaMs(ref);
  }

  /** The requests of that id, of every tenant and gateway: for operators only. Ended ones of this gateway only. */
  named(id: string): Promise<RequestView[]> {
    return this.views.named(id);
  }

  /** Of every configured model, over all gateways that share a queue. */
  depths(): Promise<ModelQueueDepth[]> {
    return this.views.depths();
  }

  /** What waits in this gateway, by model. */
  waiting(): ReadonlyMap<string, ModelWaiting> {
    return this.views.waiting();
  }

  /** Rejects new work, lets live requests finish, stops the rest, closes the pool. Idempotent: the same promise. */
  drain(): Promise<void> {
    this.intake.close();
    return (this.#drained ??= this.shutdown.run());
  }
}

function ownFilter({ model, tenant, priority, state }: RequestFilter): CancelFilter {
  return {
    model,
    tenant,
    priority: priority && priorityLevel(priority),
    stage: state && (state === 'queued' ? 'queued' : 'in_flight'),
  };
}
