import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type QueueReports } from '../../core/dispatch/request-queue.port.js';
import { Admission, type QueueLoad } from '../../core/queue/admission.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { WaitBudget } from '../../platform/process/wait-budget.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';
import { PayloadBlobs } from './payload-blobs.js';
import { isPulled, type PulledTask, toQueueEntry } from './queue-entry.js';
import { RequestJobs } from './request-jobs.js';
import { SharedRequest } from './shared-request.js';
import { SharedRequests } from './shared-requests.js';

/** A request waits for Redis no longer than this before it is accepted, however many commands that takes. */
const MAX_WAIT_MS = 5000;

interface Entering {
  readonly request: ScheduledRequest<WorkerTask>;
  readonly reports: QueueReports<WorkerReply>;
  readonly stop: AbortController;
}

/**
 * The way into the shared queue: bounds, audio to the blob store, Redis. A request is accepted once it passed its
 * bounds.
 */
@Injectable()
export class SharedIntake implements OnModuleDestroy {
  readonly #entering = new Map<RequestKey, Entering>();
  #closed = false;

  constructor(
    private readonly jobs: RequestJobs,
    private readonly blobs: PayloadBlobs,
    private readonly requests: SharedRequests,
    private readonly admission: Admission,
    private readonly pool: WorkerPoolService,
    private readonly clock: ProcessClock,
  ) {}

  /** What is not accepted by now is rejected. */
  onModuleDestroy(): void {
    this.#closed = true;
    for (const { stop } of this.#entering.values()) stop.abort(shuttingDown());
  }

  /** Reports later whether the request is accepted. */
  enter(request: ScheduledRequest<WorkerTask>, reports: QueueReports<WorkerReply>): void {
    const { key, payload } = request;
    if (!isPulled(payload)) throw new Error(`${payload.kind} does not go through the shared queue`);
    const entering = { request, reports, stop: new AbortController() };
    this.#entering.set(key, entering);
    if (this.#closed) entering.stop.abort(shuttingDown());
    this.pool.demand(request.model);
    void this.#enter(entering, payload)
      .catch((error: unknown) => reports.rejected(key, rejection(error)))
      .finally(() => this.#entering.delete(key));
  }

  /** Ends a request that is not accepted yet: it is reported as rejected. */
  stop(key: RequestKey, reason: CancelReason): void {
    const cancelled = new DomainError('request_cancelled', 'The request was cancelled before it was queued.');
    this.#entering.get(key)?.stop.abort(reason === 'shutdown' ? shuttingDown() : cancelled);
  }

  async #enter({ request, reports, stop: { signal } }: Entering, task: PulledTask): Promise<void> {
    const ref = this.jobs.ref(request);
    const waitMs = Math.min(MAX_WAIT_MS, request.queueDeadlineMs - this.clock.nowMs());
    const redis = new WaitBudget(waitMs, () => this.jobs.overdue());
    const known = await redis.spend(this.jobs.known(ref));
    if (!known) await redis.spend(this.#demandRoom(request));
    const placed = await this.blobs.place(toQueueEntry(request, task, this.clock.nowMs()), signal);
    try {
      if (known) await redis.spend(this.jobs.rejectOther(ref, placed));
      signal.throwIfAborted();
    } catch (error) {
      await this.blobs.remove(placed.blobs);
      throw error;
    }
    const shared = new SharedRequest({ request, reports, ref, placed });
    this.requests.open(shared);
    await this.requests.enter(shared);
  }

  /** Counts the requests that began to enter before this one: two at once must not both get the last place. */
  async #demandRoom(request: ScheduledRequest<WorkerTask>): Promise<void> {
    const all = [...this.#entering.values()].map(entering => entering.request);
    const ahead = all.slice(0, all.indexOf(request)).filter(({ key }) => !this.requests.get(key));
    const load = await this.#load(ahead);
    if (!this.admission.check(load, request)) return;
    // Only at a bound it matters how much of the queue its tenant holds.
    const loadOf = await this.#tenantLoad(request, ahead);
    const refusal = this.admission.check({ ...load, loadOf }, request);
    if (refusal) throw this.admission.queueFull(refusal, request.model, this.clock.nowMs());
  }

  async #tenantLoad({ tenant }: ScheduledRequest, ahead: readonly ScheduledRequest[]): Promise<QueueLoad['loadOf']> {
    const byModel = await this.jobs.loadOf(tenant);
    const isOwn = (model?: string) => (request: ScheduledRequest) =>
      request.tenant === tenant && (model === undefined || request.model === model);
    return (_tenant, model) => {
      const inRedis = model === undefined ? [...byModel.values()] : [byModel.get(model) ?? { requests: 0, tenants: 0 }];
      const entering = ahead.filter(isOwn(model));
      const own = [
        ...this.requests
          .waiting()
          .map(({ request }) => request)
          .filter(isOwn(model)),
        ...entering,
      ];
      return {
        requests: inRedis.reduce((sum, { requests }) => sum + requests, entering.length),
        bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
        tenants: Math.max(0, ...inRedis.map(({ tenants }) => tenants)),
      };
    };
  }

  /** Requests are counted over all gateways; bytes for this one, whose folder or bucket traffic they are. */
  async #load(ahead: readonly ScheduledRequest[]): Promise<QueueLoad> {
    const waiting = await this.jobs.waiting();
    const own = [...this.requests.waiting().map(({ request }) => request), ...ahead];
    const bytesOf = (requests: readonly ScheduledRequest[]) => requests.reduce((sum, { bytes }) => sum + bytes, 0);
    const ofModel = (requests: readonly ScheduledRequest[], model: string) => requests.filter(r => r.model === model);
    const depth = [...waiting.values()].reduce((sum, count) => sum + count, ahead.length);
    // Redis counts without priorities: every request counts as ahead.
    return {
      depth,
      bytes: bytesOf(own),
      depthByPriority: () => ({ realtime: depth, batch: 0 }),
      depthOf: model => ({
        batch: 0,
        realtime: (waiting.get(model) ?? 0) + ofModel(ahead, model).length,
        bytes: bytesOf(ofModel(own, model)),
      }),
    };
  }
}

const rejection = (error: unknown): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('internal_error', 'The request could not be queued.', { cause: error });
