import { Inject, Injectable } from '@nestjs/common';
import { LatencyTracker } from '../../core/latency/latency-tracker.js';
import { slotCredit } from '../../core/dispatch/slot-credit.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';
import { keyOf, matchesFilter, type RequestFilter, type RequestView, type WaitsFor } from './request-view.js';
import { type TrackedRequest } from './tracked-request.js';

interface Place {
  readonly position: number;
  readonly aged: boolean;
}

/** One model's waiting line. */
export interface QueueLine {
  readonly model: string;
  readonly realtime: number;
  readonly batch: number;
  readonly bytes: number;
  readonly running: number;
  /** Milliseconds; absent when nobody waits. */
  readonly oldestWaitMs?: number;
}

/** What operators see: read from the owners at the moment of asking, never kept. */
@Injectable()
export class RequestViews {
  constructor(
    private readonly book: RequestRegistry,
    private readonly queue: PriorityQueue<WorkerTask>,
    private readonly pool: WorkerPoolService,
    private readonly latency: LatencyTracker,
    private readonly clock: ProcessClock,
    @Inject(MODELS) private readonly models: readonly ModelSpec[],
  ) {}

  /** Waiting ones in dispatch order, then running ones. An ended `state` lists those that ended lately instead. */
  list(filter: RequestFilter = {}): RequestView[] {
    const isEnded = filter.state !== undefined && filter.state !== 'queued' && filter.state !== 'running';
    const views = isEnded ? this.book.history.list() : this.#live();
    return views.filter(view => matchesFilter(view, filter));
  }

  find(key: RequestKey): RequestView | undefined {
    const tracked = this.book.get(key);
    if (!tracked) return this.book.history.find(key);
    return this.#view(tracked, tracked.lifecycle.state === 'queued' ? this.#places().get(key) : undefined);
  }

  /** Every tenant's request of that id, running or lately ended: for operators. */
  named(id: string): RequestView[] {
    const live = this.book.live().filter(tracked => tracked.id === id);
    const keys = new Set(live.map(({ key }) => key));
    const ended = this.book.history.list().filter(view => view.id === id && !keys.has(keyOf(view)));
    return [...live.flatMap(({ key }) => this.find(key) ?? []), ...ended];
  }

  lines(): QueueLine[] {
    const nowMs = this.clock.nowMs();
    const oldest = new Map<string, number>();
    const running = new Map<string, number>();
    const sharedBytes = new Map<string, number>();
    for (const { request, lifecycle, line } of this.book.live()) {
      const { model, enqueuedAtMs, bytes } = request;
      if (line && lifecycle.state === 'queued') sharedBytes.set(model, (sharedBytes.get(model) ?? 0) + bytes);
      if (lifecycle.state === 'leased') running.set(model, (running.get(model) ?? 0) + 1);
      else oldest.set(model, Math.max(oldest.get(model) ?? 0, nowMs - enqueuedAtMs));
    }
    return this.models.map(({ id: model }) => ({
      ...{ model, ...this.queue.depthOf(model) },
      bytes: this.queue.depthOf(model).bytes + (sharedBytes.get(model) ?? 0),
      running: running.get(model) ?? 0,
      oldestWaitMs: oldest.get(model),
    }));
  }

  #live(): RequestView[] {
    const places = this.#places();
    const waiting = [...places].flatMap(([key, place]) => {
      const tracked = this.book.get(key);
      return tracked ? [this.#view(tracked, place)] : [];
    });
    const running = this.book.live().filter(({ key }) => !places.has(key));
    return [...waiting, ...running.map(tracked => this.#view(tracked, undefined))];
  }

  #places(): Map<RequestKey, Place> {
    const places = new Map<RequestKey, Place>();
    for (const { request, position, aged } of this.queue.snapshot(this.clock.nowMs())) {
      places.set(request.key, { position, aged });
    }
    return places;
  }

  #view({ request, lifecycle, priority, id, key }: TrackedRequest, place: Place | undefined): RequestView {
    const nowMs = this.clock.nowMs();
    const phases = this.latency.get(key, nowMs) ?? {};
    return {
      ...{ id, model: request.model, tenant: request.tenant, priority, phases },
      state: lifecycle.state === 'queued' ? 'queued' : 'running',
      position: place?.position,
      aged: place?.aged ?? lifecycle.promoted,
      waitsFor: place && this.#waitsFor(request, priority === 'batch' && !place.aged),
      waitedMs: lifecycle.state === 'queued' ? nowMs - request.enqueuedAtMs : (phases.queueWaitMs ?? 0),
      workerId: lifecycle.workerId,
      attempts: lifecycle.attempts,
    };
  }

  #waitsFor(request: ScheduledRequest<WorkerTask>, windowApplies: boolean): WaitsFor {
    const { model } = request;
    if (!this.pool.hasReady(model)) return 'worker';
    const credit = slotCredit(request, this.queue, this.clock.nowMs());
    if (!this.pool.offer(model)?.[credit]) return 'slot';
    return windowApplies ? 'window' : 'turn';
  }
}
