import { SlotMap } from '../shared/slot-map.js';
import { DomainError } from '../shared/domain-error.js';
import { type RequestKey } from '../request/request-key.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { isAged } from '../request/aging-policy.js';
import { DeadlineQueue } from './deadline-queue.js';
import { KeyedHeap } from './keyed-heap.js';
import { type ModelLaneView, type ModelLane, type TenantLoad } from './model-lane.js';
import { ModelLanes, type PlacedRequest, type QueueOptions } from './model-lanes.js';
import { costOf, type WaitingRequest } from './tenant-queue.js';

export interface ModelDepth {
  readonly realtime: number;
  readonly batch: number;
  /** Bytes held by both lanes. */
  readonly bytes: number;
}

/** `aged`: BATCH that competes with REALTIME by age. */
export interface QueuedView<P> extends PlacedRequest<P> {
  /** 1-based position in the queue of its model; other models never delay it. */
  readonly position: number;
}

/**
 * All waiting requests: two lanes per model. In a lane tenants share by work (D-25); within a tenant it is first in,
 * first out, unless deadlines decide (D-26).
 *
 * The order across models needs no timer and no re-keying (D-03): REALTIME heads and BATCH heads are in one heap each,
 * by age. Aging is monotone in age, so the oldest BATCH head is the first to age, and comparing two heap tops decides.
 * If REALTIME and an aged request of one model wait, turns decide between its two lanes.
 */
export class PriorityQueue<P> {
  readonly #nodes = new SlotMap<RequestKey, WaitingRequest<P>>();
  readonly #lanes = new Map<string, ModelLanes<P>>();
  readonly #realtimeHeads = new KeyedHeap<ModelLane<P>>();
  readonly #batchHeads = new KeyedHeap<ModelLane<P>>();
  readonly #deadlines = new DeadlineQueue<P>();
  #realtime = 0;
  #bytes = 0;

  constructor(readonly options: QueueOptions) {}

  get agingMs(): number {
    return this.options.agingMs;
  }

  get agingShare(): number {
    return this.options.agingShare;
  }

  get depth(): number {
    return this.#nodes.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Monotonic time of the earliest queue deadline (D-07). */
  get nextDeadlineMs(): number | undefined {
    return this.#deadlines.first?.request.queueDeadlineMs;
  }

  /** Non-empty lanes, unordered. */
  get lanes(): readonly ModelLaneView[] {
    return [...this.#realtimeHeads.members, ...this.#batchHeads.members];
  }

  depthByPriority(): { readonly realtime: number; readonly batch: number } {
    return { realtime: this.#realtime, batch: this.depth - this.#realtime };
  }

  depthOf(model: string): ModelDepth {
    const { realtime, batch } = this.#lanes.get(model) ?? {};
    const bytes = (realtime?.bytes ?? 0) + (batch?.bytes ?? 0);
    return { realtime: realtime?.size ?? 0, batch: batch?.size ?? 0, bytes };
  }

  /** What waits of one tenant, for one model or all, and how many tenants wait there: in one lane at most. */
  loadOf(tenant: string, model?: string): TenantLoad {
    const scope = model === undefined ? [...this.#lanes.values()] : [this.#lanes.get(model)];
    let [requests, bytes, tenants] = [0, 0, 0];
    for (const lane of scope.flatMap(lanes => (lanes ? [lanes.realtime, lanes.batch] : []))) {
      const load = lane.loadOf(tenant);
      requests += load.requests;
      bytes += load.bytes;
      tenants = Math.max(tenants, load.tenants);
    }
    return { requests, bytes, tenants };
  }

  /** Both lanes of a model, to read from and to run ahead (`core/forecast`). */
  lanesOf(model: string): ModelLanes<P> {
    let lanes = this.#lanes.get(model);
    if (lanes === undefined) this.#lanes.set(model, (lanes = new ModelLanes<P>(model, this.options)));
    return lanes;
  }

  /** Models with waiting requests. */
  models(): string[] {
    return [...this.#lanes].filter(([, { realtime, batch }]) => realtime.size + batch.size > 0).map(([model]) => model);
  }

  /** The class that has the next turn while REALTIME and an aged request of this model wait (D-03). */
  turnOf(model: string, nowMs: number): RequestPriority | undefined {
    const lanes = this.#lanes.get(model);
    if (!lanes?.isContested(nowMs)) return undefined;
    return lanes.isAgedNext ? RequestPriority.BATCH : RequestPriority.REALTIME;
  }

  has(key: RequestKey): boolean {
    return this.#nodes.has(key);
  }

  get(key: RequestKey): ScheduledRequest<P> | undefined {
    return this.#nodes.get(key)?.request;
  }

  /** Adds a request behind its equals. Throws `duplicate_request_id` if one with that key waits already. */
  enqueue(request: ScheduledRequest<P>): void {
    this.#refuseDuplicate(request);
    const lane = this.#laneOf(request);
    this.#added(lane.append(request), lane);
  }

  /** Re-adds a request whose worker died at its old position, ahead of its equals (D-06). */
  restore(request: ScheduledRequest<P>): void {
    this.#refuseDuplicate(request);
    const lane = this.#laneOf(request);
    this.#added(lane.restore(request), lane);
  }

  /** A request that was sent took `deviceMs` of its worker's device: replaces what its tenant was charged for it. */
  measured(request: ScheduledRequest<P>, deviceMs: number): void {
    this.#laneOf(request).correct(request, deviceMs - costOf(request));
  }

  /** Removes a request in O(log models). */
  remove(key: RequestKey): ScheduledRequest<P> | undefined {
    const node = this.#nodes.get(key);
    if (node === undefined) return undefined;
    this.#removed(node);
    return node.request;
  }

  /** Moves a waiting request to the other lane of its model, placed by age. Undefined: it does not wait. */
  reprioritize(key: RequestKey, priority: RequestPriority): ScheduledRequest<P> | undefined {
    const request = this.remove(key);
    if (request !== undefined) this.enqueue({ ...request, priority });
    return this.get(key);
  }

  /** Removes and returns expired requests, earliest first (D-07). One comparison if there is none. */
  expired(nowMs: number): ScheduledRequest<P>[] {
    const expired: ScheduledRequest<P>[] = [];
    let node = this.#deadlines.first;
    while (node !== undefined && node.request.queueDeadlineMs <= nowMs) {
      this.#removed(node);
      expired.push(node.request);
      node = this.#deadlines.first;
    }
    return expired;
  }

  /**
   * BATCH requests that have aged since the last call, so that each promotion is counted when it happens. A re-queued
   * request is reported again. O(models).
   */
  aged(nowMs: number): ScheduledRequest<P>[] {
    return this.#batchHeads.members.flatMap(lane => lane.aged(nowMs, this.agingMs));
  }

  /**
   * Offers lanes, best head first by (effective priority, age), until `choose` returns a value, which counts as a turn
   * of that lane. Each model is offered at most once per priority, so a blocked model delays no other. If REALTIME and
   * an aged request of a model wait, only the lane with the next turn is offered, even if it cannot be served yet.
   * `aged` says that the lane holds an aged request, of whichever tenant.
   */
  pick<T>(nowMs: number, choose: (lane: ModelLaneView, aged: boolean) => T | undefined): T | undefined {
    const passed: ModelLane<P>[] = [];
    try {
      for (let best = this.#best(nowMs); best !== undefined; best = this.#best(nowMs)) {
        const lanes = this.lanesOf(best.model);
        const contested = lanes.isContested(nowMs);
        const lane = !contested ? best : lanes.isAgedNext ? lanes.batch : lanes.realtime;
        const chosen = choose(lane, this.#isAged(lane, nowMs));
        if (chosen !== undefined) {
          lanes.taken(lane, contested);
          return chosen;
        }
        for (const offered of contested ? [lanes.realtime, lanes.batch] : [lane]) {
          this.#heads(offered).remove(offered);
          passed.push(offered);
        }
      }
      return undefined;
    } finally {
      for (const lane of passed) this.#headChanged(lane);
    }
  }

  /** Removes and returns up to `count` requests of a lane, suspects with their like only, and charges their tenants. */
  take(lane: Pick<ModelLaneView, 'model' | 'priority'>, count: number): ScheduledRequest<P>[] {
    const from = this.#laneOf(lane);
    const taken: ScheduledRequest<P>[] = [];
    for (let node = from.next; node !== undefined && taken.length < count; node = from.next) {
      if (taken.length > 0 && taken[0]!.mostTogether !== node.request.mostTogether) break;
      from.charge(node);
      this.#removed(node, from);
      taken.push(node.request);
    }
    return taken;
  }

  /**
   * One waiting request with its position: O(requests ahead of it in the queue of its model), O(1) if it does not wait.
   */
  place(key: RequestKey, nowMs: number): QueuedView<P> | undefined {
    const waiting = this.get(key);
    if (waiting === undefined) return undefined;
    let position = 0;
    for (const placed of this.lanesOf(waiting.model).inOrder(nowMs)) {
      position += 1;
      if (placed.request === waiting) return { ...placed, position };
    }
    return undefined;
  }

  /** All waiting requests in dispatch order. O(n log n): for admin listings. */
  snapshot(nowMs: number): QueuedView<P>[] {
    const views = [...this.#lanes.values()].flatMap(lanes => {
      let [lastLevel, lastMs]: [number, number] = [RequestPriority.REALTIME, -Infinity];
      return Array.from(lanes.inOrder(nowMs), (placed, index) => {
        const { request, aged } = placed;
        // A tenant's aged request may come after another's that is not: then it is not sent before.
        const level = Math.max(lastLevel, aged ? RequestPriority.REALTIME : request.priority);
        // No request is sent before the one ahead of it in its own model, however old it is.
        lastMs = level === lastLevel ? Math.max(lastMs, request.enqueuedAtMs) : request.enqueuedAtMs;
        lastLevel = level;
        return { ...placed, position: index + 1, level, sinceMs: lastMs };
      });
    });
    views.sort((a, b) => a.level - b.level || a.sinceMs - b.sinceMs);
    return views;
  }

  #best(nowMs: number): ModelLane<P> | undefined {
    const realtime = this.#realtimeHeads.top;
    const batch = this.#batchHeads.top;
    if (realtime === undefined || batch === undefined) return realtime ?? batch;
    const older = batch.firstEnqueuedAtMs < realtime.firstEnqueuedAtMs;
    return older && this.#isAged(batch, nowMs) ? batch : realtime;
  }

  #isAged(lane: ModelLane<P>, nowMs: number): boolean {
    return lane.head !== undefined && isAged(lane.head.request, nowMs, this.agingMs);
  }

  #refuseDuplicate(request: ScheduledRequest<P>): void {
    if (!this.#nodes.has(request.key)) return;
    throw new DomainError('duplicate_request_id', `Request ${request.id} is already waiting.`);
  }

  #added(node: WaitingRequest<P>, lane: ModelLane<P>): void {
    const { request } = node;
    this.#nodes.set(request.key, node);
    this.#deadlines.add(node);
    this.#bytes += request.bytes;
    if (lane.priority === RequestPriority.REALTIME) this.#realtime += 1;
    if (lane.head === node) this.#headChanged(lane);
  }

  #removed(node: WaitingRequest<P>, lane = this.#laneOf(node.request)): void {
    const { request } = node;
    const wasHead = lane.head === node;
    lane.remove(node);
    this.#nodes.delete(request.key);
    this.#deadlines.remove(node);
    this.#bytes -= request.bytes;
    if (lane.priority === RequestPriority.REALTIME) this.#realtime -= 1;
    if (wasHead) this.#headChanged(lane);
  }

  #headChanged(lane: ModelLane<P>): void {
    if (lane.size === 0) this.#heads(lane).remove(lane);
    else this.#heads(lane).put(lane, lane.firstEnqueuedAtMs);
  }

  #heads(lane: ModelLane<P>): KeyedHeap<ModelLane<P>> {
    return lane.priority === RequestPriority.REALTIME ? this.#realtimeHeads : this.#batchHeads;
  }

  #laneOf({ model, priority }: Pick<ModelLaneView, 'model' | 'priority'>): ModelLane<P> {
    return this.lanesOf(model).of(priority);
  }
}
