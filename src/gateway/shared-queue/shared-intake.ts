import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type QueueReports } from './request-queue.port.js';
import { Admission, type QueueLoad } from '../../core/queue/admission.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { WaitBudget } from '../../platform/process/active-timeout.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type TaskRequest } from '../worker-pool/worker-task.js';
import { PayloadBlobs } from './payload-blobs.js';
import { RequestJobs } from './request-jobs.js';
import { SharedRequest } from './shared-request.js';
import { SharedRequests } from './shared-requests.js';

/**
 * A request waits for Redis no longer than this before it is accepted, however many
 * commands that takes.
 */
const MAX_WAIT_MS = 5000;

/**
 * The way into the shared queue: bounds, audio to the blob store, Redis. A request is
 * accepted once it passed its bounds.
 */
@Injectable()
export class SharedIntake implements OnModuleDestroy {
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
    for (const { entering } of this.requests.all()) entering.abort(shuttingDown());
  }

  /** Reports later whether the request is accepted. */
  enter(request: TaskRequest, reports: QueueReports): void {
    const ref = this.jobs.queues.ref(request.model, request);
    const shared = new SharedRequest(request, reports, ref);
    this.requests.add(shared);
    if (this.#closed) shared.entering.abort(shuttingDown());
    this.pool.of(request.model)?.demand();
    void this.#enter(shared).catch((error: unknown) => {
      this.requests.forget(shared);
      reports.rejected(request.key, rejection(error));
    });
  }

  /** Ends a request that is not accepted yet: it is reported as rejected. */
  stop({ entering }: SharedRequest, reason: CancelReason): void {
    const cancelled = new DomainError(
      'request_cancelled',
      'The request was cancelled before it was queued.',
    );
    entering.abort(reason === 'shutdown' ? shuttingDown() : cancelled);
  }

  async #enter(shared: SharedRequest): Promise<void> {
    const { request, ref, entering } = shared;
    const waitMs = Math.min(MAX_WAIT_MS, request.queueDeadlineMs - this.clock.nowMs());
    const redis = new WaitBudget(waitMs, () => this.jobs.overdue());
    const known = await redis.spend(this.jobs.known(ref));
    if (!known) await redis.spend(this.#demandRoom(shared));
    const { signal } = entering;
    const placed = await this.blobs.place(request, this.clock.nowMs(), signal);
    try {
      if (known) await redis.spend(this.jobs.rejectOther(ref, placed));
      signal.throwIfAborted();
    } catch (error) {
      await this.blobs.remove(placed.blobs);
      throw error;
    }
    await this.requests.open(shared, placed);
  }

  /**
   * Counts the requests that began to enter before this one: two at once must not both
   * get the last place.
   */
  async #demandRoom(shared: SharedRequest): Promise<void> {
    const { request } = shared;
    const all = this.requests.all();
    const before = all.slice(0, all.indexOf(shared));
    const ahead = before.flatMap(one => (one.placed ? [] : one.request));
    const load = await this.#load(ahead);
    if (!this.admission.check(load, request)) return;
    // Only at a bound it matters how much of the queue its tenant holds.
    const loadOf = await this.#tenantLoad(request, ahead);
    const refusal = this.admission.check({ ...load, loadOf }, request);
    if (refusal)
      throw this.admission.queueFull(refusal, request.model, this.clock.nowMs());
  }

  async #tenantLoad(
    { tenant }: ScheduledRequest,
    ahead: readonly ScheduledRequest[],
  ): Promise<QueueLoad['loadOf']> {
    const byModel = await this.jobs.loadOf(tenant);
    const isOwn = (model?: string) => (request: ScheduledRequest) =>
      request.tenant === tenant && (model === undefined || request.model === model);
    return (_tenant, model) => {
      const inRedis =
        model === undefined
          ? [...byModel.values()]
          : [byModel.get(model) ?? { requests: 0, tenants: 0 }];
      const entering = ahead.filter(isOwn(model));
      const own = [...this.#waiting().filter(isOwn(model)), ...entering];
      return {
        requests: inRedis.reduce((sum, { requests }) => sum + requests, entering.length),
        bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
        tenants: Math.max(0, ...inRedis.map(({ tenants }) => tenants)),
      };
    };
  }

  #waiting(): ScheduledRequest[] {
    return this.requests
      .all()
      .flatMap(({ isWaiting, request }) => (isWaiting ? request : []));
  }

  /**
   * Requests are counted over all gateways; bytes for this one, whose folder or bucket
   * traffic they are.
   */
  async #load(ahead: readonly ScheduledRequest[]): Promise<QueueLoad> {
    const waiting = await this.jobs.waiting();
    const own = [...this.#waiting(), ...ahead];
    const bytesOf = (requests: readonly ScheduledRequest[]) =>
      requests.reduce((sum, { bytes }) => sum + bytes, 0);
    const ofModel = (requests: readonly ScheduledRequest[], model: string) =>
      requests.filter(r => r.model === model);
    const depth = [...waiting.values()].reduce(
      (sum, count) => sum + count,
      ahead.length,
    );
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
    : new DomainError('internal_error', 'The request could not be queued.', {
        cause: error,
      });
