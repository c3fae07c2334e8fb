import { Injectable } from '@nestjs/common';
import {
  isLive,
  keyOf,
  matchesFilter,
  type RequestFilter,
  type RequestView,
} from '../../core/dispatch/request-view.js';
import { type WaitExplanation } from '../../core/forecast/forecast-view.js';
import {
  DEFAULT_TENANT,
  type RequestKey,
  requestKey,
  type RequestRef,
} from '../../core/request/request-key.js';
import { type RequestPriority } from '../../core/request/request-priority.js';
import { Forecasts } from '../queue/forecasts.js';
import { RequestQueues } from '../queue/request-queues.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { DispatchLoop } from './dispatch-loop.js';
import { RequestIntake } from './request-intake.js';

/** Milliseconds for which computed places in the queue are reused. */
const PLACES_MS = 1000;

/**
 * The API of the scheduler beside `RequestIntake`: where requests stand. What operators see is
 * read from the owners when asked, never kept; a shared queue shows the requests
 * of all its gateways.
 */
@Injectable()
export class SchedulerService {
  #places: { readonly atMs: number; readonly of: ReadonlyMap<RequestKey, RequestView> } = {
    atMs: NaN,
    of: new Map(),
  };

  constructor(
    private readonly intake: RequestIntake,
    private readonly registry: RequestRegistry,
    private readonly queues: RequestQueues,
    private readonly forecasts: Forecasts,
    private readonly loop: DispatchLoop,
  ) {}

  /** False once the drain began: readiness follows it. */
  get accepting(): boolean {
    return this.intake.accepting;
  }

  /** Nothing waits for the model, and one of its workers has nothing to do. */
  isIdle(model: string): boolean {
    return this.queues.isIdle(model);
  }

  /** True while the dispatch loop runs. */
  get running(): boolean {
    return this.loop.running;
  }

  /**
   * Ends a request as cancelled whose answer was computed, because it was cancelled before the
   * answer counted.
   */
  withdraw(key: RequestKey): void {
    this.registry.withdrawn(key);
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
    const here = this.queues.embedded.find(ref);
    // Among those of all gateways.
    const found = await this.queues.shared.find(ref);
    return here ? { ...here, position: found?.position ?? here.position } : (found ?? own);
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

  /** Why a request waits or waited, as data. */
  async explain(view: RequestView): Promise<WaitExplanation | undefined> {
    const { model, state } = view;
    return this.forecasts.explain(
      view,
      state === 'queued' ? await this.list({ model, state }) : [],
    );
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
   * The requests of that id, of every tenant and gateway, for operators; ended ones of this
   * gateway only.
   * @param isCertain an empty result must be certain
   * @throws DomainError `queue_unavailable`, if it must be certain, when none is here and
   *   Redis does not answer for the other gateways
   */
  async named(id: string, isCertain = false): Promise<RequestView[]> {
    const ended = this.registry
      .allEnded()
      .filter(view => view.id === id && !this.registry.get(keyOf(view)));
    const known = new Set(ended.map(keyOf));
    const isHere = ended.length > 0 || this.registry.live().some(own => own.id === id);
    const { shared } = this.queues;
    const all = this.#withOwn(await (isHere || !isCertain ? shared.list() : shared.listed()));
    return [...all.filter(view => view.id === id && !known.has(keyOf(view))), ...ended];
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
   * The view of this gateway's own text, of which it knows more than Redis, with its place in
   * Redis.
   */
  #known(view: RequestView): RequestView {
    const own = this.registry.get(keyOf(view));
    if (!own?.queue.isEmbedded) return view;
    const { position, waitsFor, aged } = view;
    return {
      ...this.registry.view(own),
      ...(own.state === 'queued' && { position, waitsFor, aged }),
    };
  }

  /**
   * What a queue lists comes first; requests that no queue lists are known
   * from the registry.
   */
  async #live(): Promise<RequestView[]> {
    return this.#withOwn(await this.queues.shared.list());
  }

  /** The embedded queue is read without a wait, so its part is not out of date. */
  #withOwn(elsewhere: readonly RequestView[]): RequestView[] {
    const shared = elsewhere.map(view => this.#known(view));
    const inShared = new Set(shared.map(keyOf));
    const own = this.queues.embedded.list().filter(view => !inShared.has(keyOf(view)));
    const views = [...shared, ...own];
    const listed = new Set(views.map(keyOf));
    const others = this.registry.live().filter(({ key }) => !listed.has(key));
    return [...views, ...others.map(record => this.registry.view(record))];
  }
}
