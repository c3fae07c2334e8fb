import { Inject, Injectable } from '@nestjs/common';
import { type QueueDepth } from '../../core/dispatch/request-queue.port.js';
import {
  isLive,
  keyOf,
  matchesFilter,
  type RequestFilter,
  type RequestView,
} from '../../core/dispatch/request-view.js';
import { isAged } from '../../core/request/aging-policy.js';
import { DEFAULT_TENANT, type RequestKey, requestKey, type RequestRef } from '../../core/request/request-key.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { Forecasts } from './forecasts.js';
import { RequestQueues } from './request-queues.js';
import { RequestRegistry } from './request-registry.js';

/** Requests of this gateway that wait for one model. */
export interface ModelWaiting {
  /** BATCH requests that compete with REALTIME because of their age. */
  readonly aged: number;
  readonly byTenant: ReadonlyMap<string, number>;
}

/** Depth of all queues for one model. */
export interface ModelQueueDepth extends QueueDepth {
  /** Held by waiting requests of this gateway. */
  readonly bytes: number;
}

/**
 * What operators see: read from the owners when asked, never kept. A shared queue shows the requests of all its
 * gateways.
 */
@Injectable()
export class RequestViews {
  constructor(
    private readonly registry: RequestRegistry,
    private readonly queues: RequestQueues,
    @Inject(MODELS) private readonly models: readonly ModelSpec[],
    private readonly clock: ProcessClock,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly forecasts: Forecasts,
  ) {}

  /**
   * Waiting requests in dispatch order, then running ones. An ended `state` lists those that ended recently in this
   * gateway.
   */
  async list(filter: RequestFilter = {}): Promise<RequestView[]> {
    const { state } = filter;
    const isEnded = state !== undefined && !isLive({ state });
    const views = isEnded ? this.registry.history.list() : await this.#live();
    return views.filter(view => matchesFilter(view, filter));
  }

  /** A request of this gateway, live or ended recently; without its place in the queue. */
  find(key: RequestKey): RequestView | undefined {
    const tracked = this.registry.get(key);
    return tracked ? this.registry.view(tracked) : this.registry.history.find(key);
  }

  /** A request of any gateway, with its place in the queue. */
  async findAnywhere(ref: RequestRef): Promise<RequestView | undefined> {
    const key = requestKey(ref);
    const own = this.find(key);
    if (own && own.state !== 'queued') return own;
    const tracked = this.registry.get(key);
    for (const queue of tracked ? [tracked.queue] : this.queues.all) {
      const found = await queue.find(ref);
      if (found) return found;
    }
    return own;
  }

  /** Milliseconds until a waiting or running request is probably answered. Undefined: unknown. */
  async etaMs(ref: RequestRef): Promise<number | undefined> {
    const view = await this.findAnywhere(ref);
    return view && this.forecasts.ofView(view)?.endInMs.p50;
  }

  /** Every tenant's request of that id, live or ended recently in this gateway: for operators. */
  async named(id: string): Promise<RequestView[]> {
    const ended = this.registry.history.list().filter(view => view.id === id && !this.registry.get(keyOf(view)));
    const known = new Set(ended.map(keyOf));
    const live = (await this.list()).filter(view => view.id === id && !known.has(keyOf(view)));
    return [...live, ...ended];
  }

  /** One entry per configured model. */
  async depths(): Promise<ModelQueueDepth[]> {
    const all = (await Promise.all(this.queues.all.map(queue => queue.depths()))).flat();
    const bytes = this.waitingBytes();
    return this.models.map(({ id: model }) => {
      const depths = all.filter(depth => depth.model === model);
      const sum = (count: (depth: QueueDepth) => number) => depths.reduce((total, depth) => total + count(depth), 0);
      const waits = depths.flatMap(({ oldestWaitMs }) => oldestWaitMs ?? []);
      return {
        model,
        realtime: sum(({ realtime }) => realtime),
        batch: sum(({ batch }) => batch),
        bytes: bytes.get(model) ?? 0,
        running: sum(({ running }) => running),
        oldestWaitMs: waits.length === 0 ? undefined : Math.max(...waits),
      };
    });
  }

  /** Bytes held by waiting requests of this gateway, by configured model. */
  waitingBytes(): ReadonlyMap<string, number> {
    const bytes = new Map(this.models.map(({ id }) => [id, 0]));
    for (const { request, lifecycle } of this.registry.live()) {
      if (lifecycle.state === 'queued') bytes.set(request.model, (bytes.get(request.model) ?? 0) + request.bytes);
    }
    return bytes;
  }

  /** Only models that something waits for. */
  waiting(): ReadonlyMap<string, ModelWaiting> {
    const [found, nowMs] = [new Map<string, { aged: number; byTenant: Map<string, number> }>(), this.clock.nowMs()];
    for (const { request, lifecycle } of this.registry.live()) {
      if (lifecycle.state !== 'queued') continue;
      const { model, tenant = DEFAULT_TENANT } = request;
      const waiting = found.get(model) ?? { aged: 0, byTenant: new Map<string, number>() };
      found.set(model, waiting);
      if (isAged(request, nowMs, this.settings.queue.agingMs)) waiting.aged += 1;
      waiting.byTenant.set(tenant, (waiting.byTenant.get(tenant) ?? 0) + 1);
    }
    return found;
  }

  /** What a queue lists comes first; requests that no queue lists are known from the registry. */
  async #live(): Promise<RequestView[]> {
    const views: RequestView[] = [];
    // One after the other: the embedded queue comes last and is read without a wait, so its part is not out of date.
    for (const queue of this.queues.all) views.push(...(await queue.list()));
    const listed = new Set(views.map(keyOf));
    const others = this.registry.live().filter(({ key }) => !listed.has(key));
    return [...views, ...others.map(tracked => this.registry.view(tracked))];
  }
}
