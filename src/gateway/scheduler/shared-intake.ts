import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type Subscription } from 'rxjs';
import { Admission, type QueueLoad } from '../../core/queue/admission.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { WaitBudget } from '../../platform/redis/wait-budget.js';
import { SharedQueue } from '../shared-queue/shared-queue.service.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { isPulled, planeEntry, type PulledTask } from './shared-queue-mapper.js';
import { RequestRegistry } from './request-registry.js';
import { SharedRequests } from './shared-requests.js';
import { type TrackedRequest } from './tracked-request.js';

/** A request waits for Redis no longer than this before it is accepted, however many commands that takes. */
const DOOR_MS = 5000;

interface Entering {
  readonly tracked: TrackedRequest;
  readonly stop: AbortController;
}

/**
 * The way into the queue that gateways share: bounds, audio to the blob store, Redis. That takes a while, so a refusal comes as the
 * answer; only what passed its bounds counts as accepted.
 */
@Injectable()
export class SharedIntake implements OnModuleInit, OnModuleDestroy {
  readonly #entering = new Map<RequestKey, Entering>();
  #closed = false;
  #subscription: Subscription | undefined;

  constructor(
    private readonly plane: SharedQueue,
    private readonly requests: SharedRequests,
    private readonly book: RequestRegistry,
    private readonly admission: Admission,
    private readonly pool: WorkerPoolService,
    private readonly clock: ProcessClock,
  ) {}

  onModuleInit(): void {
    this.#subscription = this.plane.news$.subscribe(({ type, ref }) => {
      if (type === 'taken') this.admission.drained(ref.model, this.clock.nowMs());
    });
  }

  /** What has not been accepted by now is not going to be. */
  onModuleDestroy(): void {
    this.#subscription?.unsubscribe();
    this.#closed = true;
    for (const { stop } of this.#entering.values()) stop.abort(shuttingDown());
  }

  /** Text generation and, while a worker can be sent it, a transcript that is told in pieces stay with this gateway. */
  takes({ model, payload }: { readonly model: string; readonly payload: WorkerTask }): boolean {
    if (!this.plane.enabled || !isPulled(payload)) return false;
    const isTold = payload.kind === 'transcribe' && payload.onSegment !== undefined;
    return !isTold || !this.pool.hasReady(model);
  }

  isEntering(key: RequestKey): boolean {
    return this.#entering.has(key);
  }

  enter(tracked: TrackedRequest): void {
    const { payload } = tracked.request;
    if (!isPulled(payload)) throw new Error(`${payload.kind} does not go through the shared queue`);
    const entering = { tracked, stop: new AbortController() };
    this.#entering.set(tracked.key, entering);
    if (this.#closed) entering.stop.abort(shuttingDown());
    this.pool.demand(tracked.request.model);
    void this.#enter(entering, payload)
      .catch((error: unknown) => this.book.refuse(tracked, wordsFor(error)))
      .finally(() => this.#entering.delete(tracked.key));
  }

  /** True: it had not been accepted yet, and is not going to be. */
  stop(key: RequestKey, error: DomainError): boolean {
    const entering = this.#entering.get(key);
    entering?.stop.abort(error);
    return entering !== undefined && this.book.get(key) === undefined;
  }

  async #enter({ tracked, stop: { signal } }: Entering, task: PulledTask): Promise<void> {
    const { request } = tracked;
    const ref = this.plane.ref(request.model, tracked.id, request.tenant);
    const patience = Math.min(DOOR_MS, request.queueDeadlineMs - this.clock.nowMs());
    const redis = new WaitBudget(patience, () => this.plane.overdue());
    const known = await redis.spend(this.plane.known(ref));
    if (!known) await redis.spend(this.#demandRoom(tracked));
    const placed = await this.plane.place(planeEntry(request, task, this.clock.nowMs()), signal);
    try {
      if (known) await redis.spend(this.plane.refuseOther(ref, placed));
      signal.throwIfAborted();
    } catch (error) {
      await this.plane.discard(placed);
      throw error;
    }
    const shared = { tracked, ref, placed };
    this.requests.open(shared);
    await this.requests.listen(shared);
    await this.plane.enter(ref, placed).catch((error: unknown) => this.requests.fail(shared, error));
  }

  /** Those that are entering here count, too: whoever asks at the same time must not find the same place free. */
  async #demandRoom({ key, request }: TrackedRequest): Promise<void> {
    const ahead = [...this.#entering.values()].map(({ tracked }) => tracked);
    const before = ahead
      .slice(
        0,
        ahead.findIndex(tracked => tracked.key === key),
      )
      .filter(one => !this.book.get(one.key));
    const refusal = this.admission.check(await this.#load(before), request);
    if (refusal) throw this.admission.queueFull(refusal, request.model, this.clock.nowMs());
  }

  /** Requests are counted for all gateways; bytes for this one, whose folder or bucket traffic they are. */
  async #load(entering: readonly TrackedRequest[]): Promise<QueueLoad> {
    const waiting = await this.plane.waiting();
    const own = [
      ...this.book.live().filter(({ line, lifecycle }) => line && lifecycle.state === 'queued'),
      ...entering,
    ];
    const bytesOf = (list: readonly TrackedRequest[]) => list.reduce((sum, { request }) => sum + request.bytes, 0);
    const ofModel = (model: string) => (tracked: TrackedRequest) => tracked.request.model === model;
    const depth = [...waiting.values()].reduce((sum, count) => sum + count, entering.length);
    // Not told apart by priority: all count as ahead of everybody.
    return {
      depth,
      bytes: bytesOf(own),
      depthByPriority: () => ({ realtime: depth, batch: 0 }),
      depthOf: model => ({
        batch: 0,
        realtime: (waiting.get(model) ?? 0) + entering.filter(ofModel(model)).length,
        bytes: bytesOf(own.filter(ofModel(model))),
      }),
    };
  }
}

const wordsFor = (error: unknown): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('internal_error', 'The request could not be queued.', { cause: error });
