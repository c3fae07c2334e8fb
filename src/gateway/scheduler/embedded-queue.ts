import { Inject, Injectable } from '@nestjs/common';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import {
  type QueueBacklog,
  type QueueDepth,
  type QueueReports,
  type RequestQueuePort,
} from '../../core/dispatch/request-queue.port.js';
import { type RequestView, type WaitsFor } from '../../core/dispatch/request-view.js';
import { slotCredit } from '../../core/dispatch/slot-credit.js';
import { PriorityQueue, type QueuedView } from '../../core/queue/priority-queue.js';
import { type RequestKey, requestKey, type RequestRef } from '../../core/request/request-key.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type DomainError } from '../../core/shared/domain-error.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';
import { workSizeOf } from './work-usage.js';

/** The queue in this process: the dispatch loop sends its requests to workers of the pool. Accepts every request. */
@Injectable()
export class EmbeddedQueue implements RequestQueuePort<WorkerTask, WorkerReply> {
  constructor(
    private readonly dispatcher: Dispatcher<WorkerTask>,
    private readonly queue: PriorityQueue<WorkerTask>,
    private readonly registry: RequestRegistry,
    private readonly pool: WorkerPoolService,
    private readonly clock: ProcessClock,
    @Inject(MODELS) private readonly models: readonly ModelSpec[],
  ) {}

  accepts(): boolean {
    return true;
  }

  /** What the request is charged until its device time is known (D-25). */
  estimateMs({ model, payload }: ScheduledRequest<WorkerTask>): number {
    return this.dispatcher.estimateMs(model, workSizeOf(payload));
  }

  isIdle(model: string): boolean {
    return this.dispatcher.isIdle(model);
  }

  enqueue(request: ScheduledRequest<WorkerTask>, reports: QueueReports<WorkerReply>): DomainError | undefined {
    const submission = this.dispatcher.submit(request, this.clock.nowMs());
    if (!submission.accepted) return submission.error;
    reports.accepted(request.key);
    return undefined;
  }

  async cancel(key: RequestKey, reason: CancelReason, workerId: string | undefined): Promise<void> {
    if (workerId === undefined) this.dispatcher.withdraw(key);
    else await this.pool.cancel(workerId, key, reason);
  }

  reprioritize(ref: RequestRef, priority: RequestPriority): Promise<boolean> {
    const tracked = this.registry.get(requestKey(ref));
    if (tracked?.queue !== this || !this.dispatcher.reprioritize(tracked.key, priority)) return Promise.resolve(false);
    this.registry.reprioritized(tracked, priority);
    return Promise.resolve(true);
  }

  isLeased(key: RequestKey): boolean {
    return this.registry.hasCall(key);
  }

  backlog({ model, priority }: ScheduledRequest): QueueBacklog {
    const { realtime, batch } = this.queue.depthOf(model);
    const waiting = priority === RequestPriority.REALTIME ? realtime : realtime + batch;
    return { hasReady: this.pool.hasReady(model), waiting };
  }

  list(): Promise<readonly RequestView[]> {
    const waiting = this.queue.snapshot(this.clock.nowMs());
    return Promise.resolve(waiting.flatMap(place => this.#view(place) ?? []));
  }

  find(ref: RequestRef): Promise<RequestView | undefined> {
    const place = this.queue.place(requestKey(ref), this.clock.nowMs());
    return Promise.resolve(place && this.#view(place));
  }

  depths(): Promise<readonly QueueDepth[]> {
    const nowMs = this.clock.nowMs();
    const running = this.registry
      .live()
      .filter(({ queue, lifecycle }) => queue === this && lifecycle.state === 'leased');
    const depths = this.models.map(({ id: model }) => {
      const { realtime, batch } = this.queue.depthOf(model);
      const since = this.queue.lanes.filter(lane => lane.model === model).map(lane => lane.firstEnqueuedAtMs);
      const oldestWaitMs = since.length === 0 ? undefined : nowMs - Math.min(...since);
      const runningHere = running.filter(({ request }) => request.model === model).length;
      return { model, realtime, batch, running: runningHere, oldestWaitMs };
    });
    return Promise.resolve(depths);
  }

  /** No other gateway reaches this queue. */
  cancelElsewhere(): Promise<boolean> {
    return Promise.resolve(false);
  }

  cancelMatching(): Promise<readonly RequestKey[]> {
    return Promise.resolve([]);
  }

  #view({ request, position, aged }: QueuedView<WorkerTask>): RequestView | undefined {
    const tracked = this.registry.get(request.key);
    if (!tracked) return undefined;
    const isBatchWindow = request.priority === RequestPriority.BATCH && !aged;
    return { ...this.registry.view(tracked), position, aged, waitsFor: this.#waitsFor(request, isBatchWindow) };
  }

  #waitsFor(request: ScheduledRequest<WorkerTask>, windowApplies: boolean): WaitsFor {
    const { model } = request;
    if (!this.pool.hasReady(model)) return 'worker';
    const credit = slotCredit(request, this.queue, this.clock.nowMs());
    if (!this.pool.offer(model, request)?.[credit]) return 'slot';
    return windowApplies ? 'window' : 'turn';
  }
}
