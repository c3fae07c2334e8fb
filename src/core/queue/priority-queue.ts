import { SlotMap } from '@switchyard/engine-api/slot-map.js';
import { DomainError } from '../errors/domain-error.js';
import { Entry, type WeightOf } from '../order/account.js';
import { FairOrder } from '../order/fair-order.js';
import { KeyedHeap } from '../order/keyed-heap.js';
import { type TenantLoad } from '../order/weighted-lane.js';
import { orderMsOf } from '../request/request-age.js';
import { DEFAULT_TENANT, type RequestKey } from '../request/request-key.js';
import { perPriority, RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { SUSPECT } from '../request/suspect-tenants.js';
import { ModelLane } from './model-lane.js';

type Waiting = Entry<ScheduledRequest>;
type ModelOrder = FairOrder<ScheduledRequest, ModelLane>;

/**
 * All waiting requests: two lanes per model. In a lane tenants share by work (D-25);
 * within a tenant it is first in, first out, unless deadlines decide (D-26).
 *
 * The order across models needs no timer and no re-keying (D-03): REALTIME heads and
 * BATCH heads are in one heap each, by age. Aging is monotone in age, so the oldest BATCH
 * head is the first to age, and comparing two heap tops decides. If REALTIME and an aged
 * request of one model wait, turns decide between its two lanes.
 */
export class PriorityQueue {
  readonly #entries = new SlotMap<RequestKey, Waiting>();
  readonly #orders = new Map<string, ModelOrder>();
  /** Lanes with requests. */
  readonly #heads = perPriority(() => new KeyedHeap<ModelLane>());
  /** All requests by queue deadline (D-07). */
  readonly #deadlines = new KeyedHeap<Waiting>();
  #depth = 0;
  #bytes = 0;

  constructor(
    readonly options: {
      /** Milliseconds after which a BATCH request is aged (`queue.aging_ms`, 30000). */
      readonly agingMs: number;
      /**
       * Share of the turns that aged requests get while REALTIME waits as well
       * (`queue.aging_share`, 0.25).
       */
      readonly agingShare: number;
      /** Absent: all tenants are equal. */
      readonly weightOf?: WeightOf;
    },
  ) {}

  /** Requests that wait. */
  get depth(): number {
    return this.#depth;
  }

  /** What they hold. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Monotonic time of the earliest queue deadline (D-07). */
  get nextDeadlineMs(): number | undefined {
    return this.#deadlines.keys[0];
  }

  /** Non-empty lanes, unordered. */
  get lanes(): readonly ModelLane[] {
    return [
      ...this.#heads[RequestPriority.REALTIME].items,
      ...this.#heads[RequestPriority.BATCH].items,
    ];
  }

  depthByPriority(): { readonly realtime: number; readonly batch: number } {
    let realtime = 0;
    for (const { size } of this.#heads[RequestPriority.REALTIME].items) realtime += size;
    return { realtime, batch: this.#depth - realtime };
  }

  /** Requests of both lanes, and the bytes they hold. */
  depthOf(model: string) {
    const order = this.#orders.get(model);
    if (order === undefined) return { realtime: 0, batch: 0, bytes: 0 };
    const { realtime, batch } = order;
    return { realtime: realtime.size, batch: batch.size, bytes: realtime.bytes + batch.bytes };
  }

  /**
   * What waits of one tenant, for one model or all, and how many tenants wait there: in
   * one lane at most.
   */
  loadOf(tenant: string, model?: string): TenantLoad {
    let requests = 0;
    let bytes = 0;
    let tenants = 0;
    for (const lane of this.lanes) {
      if (model !== undefined && lane.model !== model) continue;
      const load = lane.loadOf(tenant);
      requests += load.requests;
      bytes += load.bytes;
      tenants = Math.max(tenants, load.tenants);
    }
    return { requests, bytes, tenants };
  }

  /**
   * A model was loaded: the tenants whose requests or live sessions (one tenant each) wait
   * for it pay its device time, in equal parts (D-25). O(waiting)
   */
  chargeLoad(model: string, tookMs: number, sessions: readonly string[] = []): void {
    const { realtime, batch } = this.lanesOf(model);
    const shareMs = tookMs / (realtime.size + batch.size + sessions.length);
    for (const tenant of sessions) realtime.correct(tenant, shareMs);
    for (const { item } of [...this.#entries.values()])
      if (item.model === model) this.measured(item, item.costMs + shareMs);
  }

  /** Both lanes of a model, to read from and to run ahead (`core/forecast`). */
  lanesOf(model: string): ModelOrder {
    const known = this.#orders.get(model);
    if (known) return known;
    const { agingShare, weightOf } = this.options;
    const { REALTIME, BATCH } = RequestPriority;
    const realtime = new ModelLane(model, REALTIME, this.#heads[REALTIME], weightOf);
    const batch = new ModelLane(model, BATCH, this.#heads[BATCH], weightOf);
    const order: ModelOrder = new FairOrder({ realtime, batch, agingShare });
    this.#orders.set(model, order);
    return order;
  }

  /**
   * The class that has the next turn while REALTIME and an aged request of this
   * model wait (D-03).
   */
  turnOf(model: string, nowMs: number): RequestPriority | undefined {
    const order = this.#orders.get(model);
    return order?.isContested(nowMs) ? order.inTurn.priority : undefined;
  }

  /** Models that requests have waited for. */
  get models(): readonly string[] {
    return [...this.#orders.keys()];
  }

  get(key: RequestKey): ScheduledRequest | undefined {
    return this.#entries.get(key)?.item;
  }

  /**
   * Adds a request behind its equals. Throws `duplicate_request_id` if one with that
   * key waits already.
   * @param isReturned as `restore`
   */
  enqueue(request: ScheduledRequest, isReturned = false): void {
    const { id, key, model, priority, tenant = DEFAULT_TENANT, costMs, bytes } = request;
    if (this.#entries.get(key))
      throw new DomainError('duplicate_request_id', `Request ${id} is already waiting.`);
    const { agingMs } = this.options;
    const { enqueuedAtMs: sinceMs } = request;
    const isRealtime = priority === RequestPriority.REALTIME;
    const orderMs = orderMsOf(request, agingMs);
    const agesAtMs = sinceMs + agingMs;
    const place = { isRealtime, tenant, sinceMs, orderMs, agesAtMs, costMs, bytes };
    const entry = new Entry(request, place);
    this.#entries.set(key, entry);
    this.#deadlines.put(entry, request.queueDeadlineMs);
    this.#depth += 1;
    this.#bytes += bytes;
    const lane = this.lanesOf(model).of(priority);
    if (isReturned) lane.restore(entry);
    else lane.append(entry);
    this.#headMayChange(lane);
  }

  /** Re-adds a request whose worker died at its old position, ahead of its equals (D-06). */
  restore(request: ScheduledRequest): void {
    this.enqueue(request, true);
  }

  /**
   * A request that was sent took `deviceMs` of its worker's device: replaces what its
   * tenant was charged for it.
   */
  measured(request: ScheduledRequest, deviceMs: number): void {
    const { model, priority, tenant = DEFAULT_TENANT, costMs } = request;
    this.lanesOf(model)
      .of(priority)
      .correct(tenant, deviceMs - costMs);
  }

  /** Removes a request in O(log n). */
  remove(key: RequestKey): ScheduledRequest | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const { item } = entry;
    const lane = this.lanesOf(item.model).of(item.priority);
    lane.remove(entry);
    this.#left(entry, lane);
    return item;
  }

  /**
   * Moves a waiting request to the other lane of its model, placed by age. Undefined: it
   * does not wait.
   */
  reprioritize(key: RequestKey, priority: RequestPriority): ScheduledRequest | undefined {
    const request = this.remove(key);
    if (request !== undefined) this.enqueue({ ...request, priority });
    return this.get(key);
  }

  /**
   * What waits of this tenant for this model yields from now on, and runs alone (D-51). O(depth)
   * @returns its keys
   */
  suspect(model: string, tenant: string): readonly RequestKey[] {
    const items = Array.from(this.#entries.values(), ({ item }) => item).filter(
      item => item.model === model && (item.tenant ?? DEFAULT_TENANT) === tenant,
    );
    for (const item of items) {
      this.remove(item.key);
      this.enqueue({ ...item, ...SUSPECT });
    }
    return items.map(({ key }) => key);
  }

  /** Removes and returns expired requests, earliest first (D-07). One comparison if none is. */
  expired(nowMs: number): ScheduledRequest[] {
    const expired: ScheduledRequest[] = [];
    while ((this.#deadlines.keys[0] ?? Infinity) <= nowMs) {
      const { item } = this.#deadlines.items[0]!;
      this.remove(item.key);
      expired.push(item);
    }
    return expired;
  }

  /**
   * BATCH requests that have aged since the last call, so that each promotion is counted
   * when it happens. A re-queued request is reported again. O(models).
   */
  aged(nowMs: number): ScheduledRequest[] {
    const aged: ScheduledRequest[] = [];
    for (const lane of this.#heads[RequestPriority.BATCH].items) aged.push(...lane.takeAged(nowMs));
    return aged;
  }

  /**
   * Offers lanes, best head first by (effective priority, age), until `choose` returns a
   * value, which counts as a turn of that lane. Each model is offered at most once per
   * priority, so a blocked model delays no other. If REALTIME and an aged request of a
   * model wait, only the lane with the next turn is offered, even if it cannot be served
   * yet. `aged` says that the lane holds an aged request, of whichever tenant.
   */
  pick<T>(
    nowMs: number,
    choose: (lane: ModelLane, aged: boolean, nowMs: number) => T | undefined,
  ): T | undefined {
    const passed: ModelLane[] = [];
    try {
      for (let best = this.#best(nowMs); best !== undefined; best = this.#best(nowMs)) {
        const order = this.lanesOf(best.model);
        const contested = order.isContested(nowMs);
        const lane = contested ? order.inTurn : best;
        const isBatch = lane !== order.realtime;
        const chosen = choose(lane, isBatch && lane.hasAged(nowMs), nowMs);
        if (chosen !== undefined) {
          order.turns.taken(isBatch, contested);
          return chosen;
        }
        this.#pass(lane, passed);
        if (contested) this.#pass(isBatch ? order.realtime : order.batch, passed);
      }
      return undefined;
    } finally {
      for (const lane of passed) this.#headMayChange(lane);
    }
  }

  /** What goes next of a lane; of a tenant that yields only when nothing else waits, or aged. */
  nextOf(lane: ModelLane, nowMs: number): Waiting | undefined {
    return this.lanesOf(lane.model).nextOf(lane, item => this.yields(item, nowMs));
  }

  /** What waits for a model, in the order in which it will be sent, if none comes or ages. */
  *inOrder(model: string, nowMs: number): Generator<ScheduledRequest> {
    const yields = (item: ScheduledRequest): boolean => this.yields(item, nowMs);
    for (const { item } of this.lanesOf(model).inOrder(nowMs, yields)) yield item;
  }

  /** Whether others go before it: a request of a suspect that has not aged (D-51). */
  yields({ yields, enqueuedAtMs }: ScheduledRequest, nowMs: number): boolean {
    return yields === true && nowMs - enqueuedAtMs < this.options.agingMs;
  }

  /**
   * Removes and returns up to `count` requests of a lane, suspects with their like only,
   * and charges their tenants.
   */
  take(lane: ModelLane, count: number, nowMs = Infinity): ScheduledRequest[] {
    const taken: ScheduledRequest[] = [];
    for (
      let entry = this.nextOf(lane, nowMs);
      entry !== undefined && taken.length < count;
      entry = this.nextOf(lane, nowMs)
    ) {
      if (taken.length > 0 && taken[0]!.mostTogether !== entry.item.mostTogether) break;
      lane.take(entry);
      this.#left(entry, lane);
      taken.push(entry.item);
    }
    return taken;
  }

  /** Removes a request that another order chose, and charges its tenant. */
  takeChosen(key: RequestKey): ScheduledRequest | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const lane = this.lanesOf(entry.item.model).of(entry.item.priority);
    lane.take(entry);
    this.#left(entry, lane);
    return entry.item;
  }

  #best(nowMs: number): ModelLane | undefined {
    const realtime = this.#heads[RequestPriority.REALTIME].items[0];
    const batch = this.#heads[RequestPriority.BATCH].items[0];
    if (realtime === undefined || batch === undefined) return realtime ?? batch;
    const older = batch.firstEnqueuedAtMs < realtime.firstEnqueuedAtMs;
    return older && batch.hasAged(nowMs) ? batch : realtime;
  }

  #pass(lane: ModelLane, passed: ModelLane[]): void {
    lane.heads.remove(lane);
    passed.push(lane);
  }

  #left(entry: Waiting, lane: ModelLane): void {
    const { item } = entry;
    this.#entries.delete(item.key);
    this.#deadlines.remove(entry);
    this.#depth -= 1;
    this.#bytes -= item.bytes;
    this.#headMayChange(lane);
  }

  #headMayChange(lane: ModelLane): void {
    if (lane.size === 0) lane.heads.remove(lane);
    else lane.heads.put(lane, lane.firstEnqueuedAtMs);
  }
}
