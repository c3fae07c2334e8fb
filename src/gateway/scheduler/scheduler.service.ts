import { Injectable } from '@nestjs/common';
import { type CancelFilter } from '../../core/cancellation/cancellation-manager.js';
import { callersId, requestKey, type RequestRef } from '../../core/request/request-key.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { DispatchLoop } from './dispatch-loop.js';
import { FleetRequests } from './fleet-requests.js';
import { RequestCanceller } from './request-canceller.js';
import { RequestIntake } from './request-intake.js';
import { type RequestFilter, type RequestView } from './request-view.js';
import { type QueueLine, RequestViews } from './request-views.js';
import { ShutdownDrain } from './shutdown-drain.js';
import { type RequestSpec, type SubmittedRequest } from './submitted-request.js';

/** The only door of the scheduler: work in, cancels in, views out, and the end. */
@Injectable()
export class SchedulerService {
  #drained: Promise<void> | undefined;

  constructor(
    private readonly intake: RequestIntake,
    private readonly canceller: RequestCanceller,
    private readonly views: RequestViews,
    private readonly loop: DispatchLoop,
    private readonly shutdown: ShutdownDrain,
    private readonly fleet: FleetRequests,
  ) {}

  /** False once the drain began: readiness follows it. */
  get accepting(): boolean {
    return this.intake.accepting;
  }

  /** True while the dispatch loop runs. */
  get running(): boolean {
    return this.loop.running;
  }

  /** Throws `queue_full` (with retryAfterMs), `shutting_down`, `duplicate_request_id`, `model_unloaded`, `model_not_found`. */
  submit(spec: RequestSpec): SubmittedRequest {
    return this.intake.submit(spec);
  }

  /**
   * True if this call stopped it. Its caller is settled at once; resolves when the worker was told (at most 100 ms). People may
   * stop what another gateway accepted.
   */
  async cancel(ref: RequestRef, reason: CancelReason): Promise<boolean> {
    const key = requestKey(ref);
    if ((await this.canceller.cancel(key, reason)) || this.intake.stop(key, reason)) return true;
    const byPeople = reason === 'client' || reason === 'operator';
    return byPeople && this.fleet.stop(ref, reason);
  }

  /** Ids of those that this call stopped, oldest first; with a shared queue those of all gateways. An empty filter means all. */
  async cancelMany(filter: RequestFilter, reason: CancelReason): Promise<string[]> {
    const tracked = trackedBy(filter);
    if (!tracked) return [];
    const own = await this.canceller.cancelMatching(tracked, reason);
    const keys = new Set([...own, ...(await this.fleet.stopMatching(filter, reason))]);
    return [...keys].map(callersId);
  }

  /** Waiting requests in dispatch order, then running ones; with an ended `state`, those that ended lately. */
  list(filter: RequestFilter = {}): RequestView[] {
    return this.views.list(filter);
  }

  /** A live request, or one of the last thousand that ended. */
  find(ref: RequestRef): RequestView | undefined {
    return this.views.find(requestKey(ref));
  }

  /** As `list`, of all gateways that share a queue. */
  listAll(filter: RequestFilter = {}): Promise<RequestView[]> {
    return this.fleet.list(filter);
  }

  /** As `find`, also when another gateway accepted it. */
  findAnywhere(ref: RequestRef): Promise<RequestView | undefined> {
    return this.fleet.find(ref);
  }

  /** The requests of that id, of every tenant and gateway: for operators only. Ended ones of this gateway only. */
  named(id: string): Promise<RequestView[]> {
    return this.fleet.named(id);
  }

  /** As `lines`, of all gateways that share a queue. */
  allLines(): Promise<QueueLine[]> {
    return this.fleet.lines();
  }

  /** The waiting line of every configured model. */
  lines(): QueueLine[] {
    return this.views.lines();
  }

  /** Refuses new work, lets what is here finish, stops the rest, closes the pool. Idempotent: the same promise. */
  drain(): Promise<void> {
    this.intake.close();
    return (this.#drained ??= this.shutdown.run());
  }
}

/** Undefined when the filter asks for a state in which nothing can be cancelled. */
function trackedBy({ model, tenant, priority, state }: RequestFilter): CancelFilter | undefined {
  if (state !== undefined && state !== 'queued' && state !== 'running') return undefined;
  return {
    ...(model !== undefined && { model }),
    ...(tenant !== undefined && { tenant }),
    ...(priority && { priority: priority === 'realtime' ? RequestPriority.REALTIME : RequestPriority.BATCH }),
    ...(state && { stage: state === 'queued' ? 'queued' : 'in_flight' }),
  };
}
