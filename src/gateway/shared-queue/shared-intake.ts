import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { Admission, type QueueLoad } from '../../core/queue/admission.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { WaitBudget } from '../../platform/process/wait-budget.js';
import { type TaskRequest } from '../../worker-client/worker-task.js';
import { type QueueReports } from '../registry/request-queue.port.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
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
  /** Waiting requests of all gateways, by model, when a request came in here. */
  lastWaiting: ReadonlyMap<string, number> = new Map();

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
    const { link, queues } = this.jobs;
    link.demand();
    const waitMs = Math.min(MAX_WAIT_MS, request.queueDeadlineMs - this.clock.nowMs());
    // Redis counts as hung from then on.
    const redis = new WaitBudget(waitMs, () => link.failure(new Error('Command timed out')));
    const [known] = await redis.spend(link.answered(queues.facts([ref])));
    // The bounds are for jobs that are not there yet.
    if (!known) await redis.spend(link.answered(this.#demandRoom(shared)));
    const { signal } = entering;
    const placed = await this.blobs.place(request, this.clock.nowMs(), signal);
    try {
      if (known) await redis.spend(link.answered(this.jobs.rejectOther(ref, placed)));
      signal.throwIfAborted();
    } catch (error) {
      await this.blobs.remove(placed.blobs);
      throw error;
    }
    await this.requests.open(shared, placed);
  }

  /**
   * Counts the requests that began to enter before this one: two at once must not both
   * get the last place. @throws DomainError `queue_full`
   */
  async #demandRoom(shared: SharedRequest): Promise<void> {
    const { request } = shared;
    const all = this.requests.all();
    const place = all.indexOf(shared);
    const entering = requestsOf(all.filter(({ placed }, at) => !placed && at < place));
    const own = [...requestsOf(all.filter(({ isWaiting }) => isWaiting)), ...entering];
    this.lastWaiting = await this.jobs.queues.waiting();
    const load = loadOf(this.lastWaiting, own, entering);
    if (!this.admission.check(load, request)) return;
    // Only at a bound it matters how much of the queue its tenant holds.
    const { tenant } = request;
    const isIts = (one: ScheduledRequest): boolean => one.tenant === tenant;
    const tenantLoad = tenantLoadOf(
      await this.jobs.queues.loadOf(tenant),
      own.filter(isIts),
      entering.filter(isIts),
    );
    const refusal = this.admission.check({ ...load, loadOf: tenantLoad }, request);
    if (refusal) throw this.admission.queueFull(refusal, request.model, this.clock.nowMs());
  }
}

const requestsOf = (all: readonly SharedRequest[]): ScheduledRequest[] =>
  all.map(({ request }) => request);

const bytesOf = (requests: readonly ScheduledRequest[]): number =>
  requests.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Requests are counted over all gateways; bytes for this one, whose folder or bucket
 * traffic they are. Redis counts without priorities: every request counts as ahead.
 * @param waiting in Redis, by model. @param own of this gateway, those that enter included
 */
function loadOf(
  waiting: ReadonlyMap<string, number>,
  own: readonly ScheduledRequest[],
  entering: readonly ScheduledRequest[],
): QueueLoad {
  const depth = waiting.values().reduce((sum, count) => sum + count, entering.length);
  return {
    depth,
    bytes: bytesOf(own),
    depthByPriority: () => ({ realtime: depth, batch: 0 }),
    depthOf: model => {
      const isOf = (request: ScheduledRequest): boolean => request.model === model;
      const realtime = (waiting.get(model) ?? 0) + entering.filter(isOf).length;
      return { realtime, batch: 0, bytes: bytesOf(own.filter(isOf)) };
    },
  };
}

/** What one tenant has waiting, at all gateways. */
function tenantLoadOf(
  waiting: Awaited<ReturnType<ModelQueues['loadOf']>>,
  own: readonly ScheduledRequest[],
  entering: readonly ScheduledRequest[],
): QueueLoad['loadOf'] {
  return (_tenant, model) => {
    const isOf = (one: { readonly model: string }): boolean =>
      model === undefined || one.model === model;
    const inRedis = waiting.filter(isOf);
    return {
      requests: inRedis.reduce((sum, { requests }) => sum + requests, entering.filter(isOf).length),
      bytes: bytesOf(own.filter(isOf)),
      tenants: Math.max(0, ...inRedis.map(({ tenants }) => tenants)),
    };
  };
}

const rejection = (error: unknown): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('internal_error', 'The request could not be queued.', {
        cause: error,
      });
