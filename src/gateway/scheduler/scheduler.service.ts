import { Injectable } from '@nestjs/common';
import {
  isLive,
  keyOf,
  type RequestFilter,
  type RequestView,
} from '../../core/dispatch/request-view.js';
import {
  callersId,
  DEFAULT_TENANT,
  type RequestKey,
  requestKey,
  type RequestRef,
} from '../../core/request/request-key.js';
import { type RequestPriority } from '../../core/request/request-priority.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type QueueDepth } from '../shared-queue/request-queue.port.js';
import { Forecasts } from './forecasts.js';
import { RequestCanceller } from './request-canceller.js';
import { RequestIntake } from './request-intake.js';
import { RequestQueues } from './request-queues.js';
import { RequestRegistry } from './request-registry.js';
import { ShutdownDrain } from './shutdown-drain.js';

/** Until places are counted again. */
const PLACES_MS = 1000;

/**
 * The API of the scheduler beside `RequestIntake`: cancel, list, drain. What operators see is
 * read from the owners when asked, never kept; a shared queue shows the requests
 * of all its gateways.
 */
@Injectable()
export class SchedulerService {
  #drained: Promise<void> | undefined;
  #places: { readonly atMs: number; readonly of: ReadonlyMap<RequestKey, RequestView> } = {
    atMs: NaN,
    of: new Map(),
  };

  constructor(
    private readonly intake: RequestIntake,
    private readonly canceller: RequestCanceller,
    private readonly registry: RequestRegistry,
    private readonly queues: RequestQueues,
    private readonly forecasts: Forecasts,
    private readonly shutdown: ShutdownDrain,
  ) {}

  /** False once the drain began: readiness follows it. */
  get accepting(): boolean {
    return this.intake.accepting;
  }

  /** Nothing waits for the model, and one of its workers has nothing to do, as far as this gateway knows. */
  isIdle(model: string): boolean {
    return this.queues.isIdle(model);
  }

  /** True while the dispatch loop runs. */
  get running(): boolean {
    return this.shutdown.running;
  }

  /**
   * True if this call stopped it. Its caller is settled at once; resolves when the worker
   * was notified (at most 100 ms). Its caller and operators can also stop a request that
   * another gateway accepted.
   */
  async cancel(ref: RequestRef, reason: CancelReason): Promise<boolean> {
    if (await this.canceller.cancel(requestKey(ref), reason)) return true;
    return (
      (reason === 'client' || reason === 'operator') &&
      this.queues.shared.cancelElsewhere(ref, reason)
    );
  }

  /**
   * Its answer was computed, but it was cancelled before the answer counted: it ended as
   * cancelled.
   */
  withdraw(key: RequestKey): void {
    this.registry.withdrawn(key);
  }

  /**
   * Ids of those that this call stopped, oldest first; with a shared queue those of all
   * gateways. An empty filter means all.
   */
  async cancelMany(filter: RequestFilter, reason: CancelReason): Promise<string[]> {
    const { state } = filter;
    if (state !== undefined && !isLive({ state })) return [];
    const own = await this.canceller.cancelMatching(
      record => matchesFilter(this.registry.view(record), filter),
      reason,
    );
    const elsewhere = await this.queues.shared.cancelMatching(
      view => matchesFilter(view, filter),
      reason,
    );
    return [...new Set([...own, ...elsewhere])].map(callersId);
  }

  /**
   * Gives a waiting request another priority, also when another gateway accepted it.
   * @returns false when it does not wait. @throws DomainError `queue_unavailable`
   */
  async reprioritize(ref: RequestRef, priority: RequestPriority): Promise<boolean> {
    // The embedded queue first: it answers without Redis.
    return (
      this.queues.embedded.reprioritize(ref, priority) ||
      (await this.queues.shared.reprioritize(ref, priority))
    );
  }

  /**
   * Waiting requests in dispatch order, then running ones, of all gateways that share a
   * queue; with an ended `state`, those that ended recently in this gateway.
   */
  async list(filter: RequestFilter = {}): Promise<RequestView[]> {
    const { state } = filter;
    const isEnded = state !== undefined && !isLive({ state });
    const views = isEnded ? this.registry.allEnded() : await this.#live();
    return views.filter(view => matchesFilter(view, filter));
  }

  /**
   * A live request of this gateway, or one of the last thousand that ended; without its
   * place in the queue.
   */
  find(ref: RequestRef): RequestView | undefined {
    const key = requestKey(ref);
    const record = this.registry.get(key);
    return record ? this.registry.view(record) : this.registry.ended(key);
  }

  /** As `find`, with its place in the queue, also when another gateway accepted it. */
  async findAnywhere(ref: RequestRef): Promise<RequestView | undefined> {
    const own = this.find(ref);
    if (own && own.state !== 'queued') return own;
    const queue = this.registry.get(requestKey(ref))?.queue ?? this.queues.shared;
    return (await queue.find(ref)) ?? own;
  }

  /**
   * Where a request stands and when it probably starts, for one of many callers that are
   * told again and again: places come from one pass for all, a second ago at most.
   */
  async waitOf(ref: RequestRef) {
    const key = requestKey(ref);
    const isOwn = this.registry.get(key)?.queue.isEmbedded;
    const view = (isOwn && this.#placesNow().get(key)) || (await this.findAnywhere(ref));
    return { view, forecast: view && this.forecasts.ofView(view) };
  }

  #placesNow(): ReadonlyMap<RequestKey, RequestView> {
    const nowMs = this.registry.nowMs();
    if (!(nowMs - this.#places.atMs < PLACES_MS)) {
      const views = this.queues.embedded.list();
      this.#places = { atMs: nowMs, of: new Map(views.map(view => [keyOf(view), view])) };
    }
    return this.#places.of;
  }

  /**
   * Milliseconds until a waiting or running request is probably
   * answered. Undefined: unknown.
   */
  async etaMs(ref: RequestRef): Promise<number | undefined> {
    const view = await this.findAnywhere(ref);
    return view && this.forecasts.ofView(view)?.endInMs.p50;
  }

  /**
   * The requests of that id, of every tenant and gateway: for operators only. Ended ones
   * of this gateway only.
   */
  async named(id: string): Promise<RequestView[]> {
    const ended = this.registry
      .allEnded()
      .filter(view => view.id === id && !this.registry.get(keyOf(view)));
    const known = new Set(ended.map(keyOf));
    const live = (await this.list()).filter(view => view.id === id && !known.has(keyOf(view)));
    return [...live, ...ended];
  }

  /**
   * Of every configured model, over all gateways that share a queue; bytes are those of
   * this gateway.
   */
  async depths(): Promise<(QueueDepth & { readonly bytes: number })[]> {
    // At this instant, as the other metrics of a scrape are read.
    const own = this.queues.embedded.depths();
    const bytes = this.waitingBytes();
    const all = [...(await this.queues.shared.depths()), ...own];
    return own.map(({ model }) => {
      const depths = all.filter(depth => depth.model === model);
      const sum = (count: (depth: QueueDepth) => number) =>
        depths.reduce((total, depth) => total + count(depth), 0);
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
    const bytes = new Map(this.queues.embedded.models.map(({ id }) => [id, 0]));
    for (const { model, request, state } of this.registry.live()) {
      if (state === 'queued') bytes.set(model, (bytes.get(model) ?? 0) + request.bytes);
    }
    return bytes;
  }

  /**
   * What waits in this gateway, by model: of each tenant, and BATCH requests that compete
   * with REALTIME because of their age. Only models that something waits for.
   */
  waiting() {
    const queued = this.registry.live().filter(({ state }) => state === 'queued');
    const byModel = Map.groupBy(queued, ({ model }) => model);
    return new Map(
      Array.from(byModel, ([model, requests]) => {
        const tenants = Map.groupBy(requests, ({ tenant = DEFAULT_TENANT }) => tenant);
        const byTenant = new Map(Array.from(tenants, ([name, own]) => [name, own.length]));
        const aged = requests.filter(request => this.registry.isAged(request)).length;
        return [model, { aged, byTenant }];
      }),
    );
  }

  /**
   * Rejects new work, lets live requests finish, stops the rest, closes the pool.
   * Idempotent: the same promise.
   */
  drain(): Promise<void> {
    this.intake.close();
    return (this.#drained ??= this.shutdown.run());
  }

  /**
   * What a queue lists comes first; requests that no queue lists are known
   * from the registry.
   */
  async #live(): Promise<RequestView[]> {
    // The embedded queue last: it is read without a wait, so its part is not out of date.
    const views = [...(await this.queues.shared.list()), ...this.queues.embedded.list()];
    const listed = new Set(views.map(keyOf));
    const others = this.registry.live().filter(({ key }) => !listed.has(key));
    return [...views, ...others.map(record => this.registry.view(record))];
  }
}

function matchesFilter(
  view: RequestView,
  { model, tenant, priority, state }: RequestFilter,
): boolean {
  return (
    (model === undefined || view.model === model) &&
    (tenant === undefined || (view.tenant ?? DEFAULT_TENANT) === tenant) &&
    (priority === undefined || view.priority === priority) &&
    (state === undefined || view.state === state)
  );
}
