import { Inject, Injectable } from '@nestjs/common';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { slotCredit } from '../../core/dispatch/slot-credit.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { PriorityQueue, type QueuedView } from '../../core/queue/priority-queue.js';
import { requestKey, type RequestRef } from '../../core/request/request-key.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type QueueDepth, type SchedulerQueue } from '../shared-queue/request-queue.port.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type TaskRequest } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';

/**
 * The queue in this process: the dispatch loop sends its requests to workers of the pool.
 * Accepts every request.
 */
@Injectable()
export class EmbeddedQueue implements SchedulerQueue {
  readonly isEmbedded = true;

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly queue: PriorityQueue,
    private readonly registry: RequestRegistry,
    private readonly pool: WorkerPoolService,
    private readonly clock: ProcessClock,
    @Inject(MODELS) readonly models: readonly ModelSpec[],
  ) {}

  isIdle(model: string): boolean {
    return this.dispatcher.isIdle(model);
  }

  startMs(request: ScheduledRequest): number {
    return this.dispatcher.startInMs(request, request.enqueuedAtMs) ?? 0;
  }

  enqueue(request: TaskRequest): DomainError | 'accepted' {
    return this.dispatcher.submit(request, this.clock.nowMs()) ?? 'accepted';
  }

  async cancel(
    { key }: ScheduledRequest,
    reason: CancelReason,
    workerId: string | undefined,
  ): Promise<void> {
    if (workerId === undefined) this.queue.remove(key);
    else await this.pool.cancel(workerId, key, reason);
  }

  /** False: it does not wait here. */
  reprioritize(ref: RequestRef, priority: RequestPriority): boolean {
    const tracked = this.registry.get(requestKey(ref));
    if (tracked?.queue !== this || !this.queue.reprioritize(tracked.key, priority)) return false;
    this.registry.reprioritized(tracked, priority);
    return true;
  }

  backlog({ model, priority }: ScheduledRequest) {
    const { realtime, batch } = this.queue.depthOf(model);
    const waiting = priority === RequestPriority.REALTIME ? realtime : realtime + batch;
    return { hasReady: this.#hasReady(model), waiting };
  }

  /** In dispatch order. */
  list(): RequestView[] {
    return this.queue.snapshot(this.clock.nowMs()).flatMap(place => this.#view(place) ?? []);
  }

  find(ref: RequestRef): RequestView | undefined {
    const place = this.queue.place(requestKey(ref), this.clock.nowMs());
    return place && this.#view(place);
  }

  /** One entry per configured model. */
  depths(): QueueDepth[] {
    const nowMs = this.clock.nowMs();
    const running = this.registry
      .live()
      .filter(({ queue, state }) => queue === this && state === 'leased');
    return this.models.map(({ id: model }) => {
      const { realtime, batch } = this.queue.depthOf(model);
      const since = this.queue.lanes
        .filter(lane => lane.model === model)
        .map(lane => lane.firstEnqueuedAtMs);
      const oldestWaitMs = since.length === 0 ? undefined : nowMs - Math.min(...since);
      const runningHere = running.filter(record => record.model === model).length;
      return { model, realtime, batch, running: runningHere, oldestWaitMs };
    });
  }

  #view({ request, position, aged }: QueuedView): RequestView | undefined {
    const tracked = this.registry.get(request.key);
    if (!tracked) return undefined;
    const isBatchWindow = request.priority === RequestPriority.BATCH && !aged;
    return {
      ...this.registry.view(tracked),
      position,
      aged,
      waitsFor: this.#waitsFor(request, isBatchWindow),
    };
  }

  #hasReady(model: string): boolean {
    return this.pool.of(model)?.hasReady ?? false;
  }

  #waitsFor(request: ScheduledRequest, windowApplies: boolean): RequestView['waitsFor'] {
    const { model } = request;
    if (!this.#hasReady(model)) return 'worker';
    const credit = slotCredit(request, this.queue, this.clock.nowMs());
    if (!this.pool.offer(model, request)?.[credit]) return 'slot';
    return windowApplies ? 'window' : 'turn';
  }
}
