import { ChurnMap } from '../shared/churn-map.js';
import { DomainError } from '../shared/domain-error.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { isAged } from './aging-policy.js';
import { DeadlineBook } from './deadline-book.js';
import { KeyedHeap } from './keyed-heap.js';
import { type LaneView, ModelLane } from './model-lane.js';
import { type WaitingRequest } from './waiting-request.js';

export interface ModelDepth {
  readonly realtime: number;
  readonly batch: number;
  /** Bytes held by both lanes. */
  readonly bytes: number;
}

export interface QueuedView<P> {
  readonly request: ScheduledRequest<P>;
  /** 1-based place in the line of its own model; other models never hold it up. */
  readonly position: number;
  /** True when it is BATCH and competes as REALTIME by age. */
  readonly aged: boolean;
}

interface ModelLanes<P> {
  readonly realtime: ModelLane<P>;
  readonly batch: ModelLane<P>;
}

/**
 * Everything that waits: two lanes per model, first in first out by enqueue time (seeds/scheduling "Priority Queue").
 *
 * The order across lanes needs no timer and no re-keying (D-03): REALTIME heads and BATCH heads stand in one heap each, by
 * age. Aging is monotone in age, so the oldest BATCH head is the first to be aged, and comparing two heap tops decides.
 */
export class PriorityQueue<P> {
  readonly #agingMs: number;
  readonly #nodes = new ChurnMap<string, WaitingRequest<P>>();
  readonly #lanes = new Map<string, ModelLanes<P>>();
  readonly #realtimeHeads = new KeyedHeap<ModelLane<P>>();
  readonly #batchHeads = new KeyedHeap<ModelLane<P>>();
  readonly #deadlines = new DeadlineBook<P>();
  #realtime = 0;
  #bytes = 0;

  /** @param options.agingMs a BATCH request this old counts as REALTIME */
  constructor(options: { readonly agingMs: number }) {
    this.#agingMs = options.agingMs;
  }

  get agingMs(): number {
    return this.#agingMs;
  }

  get depth(): number {
    return this.#nodes.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Monotonic instant of the earliest queue deadline (D-07). */
  get nextDeadlineMs(): number | undefined {
    return this.#deadlines.first?.request.queueDeadlineMs;
  }

  /** Lanes in which somebody waits, in no useful order. */
  get lanes(): readonly LaneView[] {
    return [...this.#realtimeHeads.members, ...this.#batchHeads.members];
  }

  depthByPriority(): { readonly realtime: number; readonly batch: number } {
    return { realtime: this.#realtime, batch: this.depth - this.#realtime };
  }

  depthOf(model: string): ModelDepth {
    const lanes = this.#lanes.get(model);
    if (lanes === undefined) return { realtime: 0, batch: 0, bytes: 0 };
    const { realtime, batch } = lanes;
    return { realtime: realtime.size, batch: batch.size, bytes: realtime.bytes + batch.bytes };
  }

  /** Models for which somebody waits. */
  models(): string[] {
    return [...this.#lanes].filter(([, { realtime, batch }]) => realtime.size + batch.size > 0).map(([model]) => model);
  }

  /** True when BATCH of this model has aged and came before that instant: it goes first (D-03). */
  hasOlderAged(model: string, enqueuedAtMs: number, nowMs: number): boolean {
    const lane = this.#lanes.get(model)?.batch;
    return lane !== undefined && lane.firstEnqueuedAtMs < enqueuedAtMs && this.#isAged(lane, nowMs);
  }

  has(id: string): boolean {
    return this.#nodes.has(id);
  }

  get(id: string): ScheduledRequest<P> | undefined {
    return this.#nodes.get(id)?.request;
  }

  /** Joins behind its equals. Throws `duplicate_request_id` when a request of that id waits already. */
  enqueue(request: ScheduledRequest<P>): void {
    this.#refuseDuplicate(request);
    const lane = this.#laneOf(request);
    this.#added(lane.join(request), lane);
  }

  /** Back to its old place, ahead of its equals: for a request that was taken and whose worker died (D-06). */
  restore(request: ScheduledRequest<P>): void {
    this.#refuseDuplicate(request);
    const lane = this.#laneOf(request);
    this.#added(lane.rejoin(request), lane);
  }

  /** Takes a request out from anywhere, in O(log models). */
  remove(id: string): ScheduledRequest<P> | undefined {
    const node = this.#nodes.get(id);
    if (node === undefined) return undefined;
    this.#removed(node);
    return node.request;
  }

  /** Removes and returns those whose queue deadline has come, earliest first (D-07). One comparison when there is none. */
  expired(nowMs: number): ScheduledRequest<P>[] {
    const gone: ScheduledRequest<P>[] = [];
    let node = this.#deadlines.first;
    while (node !== undefined && node.request.queueDeadlineMs <= nowMs) {
      this.#removed(node);
      gone.push(node.request);
      node = this.#deadlines.first;
    }
    return gone;
  }

  /**
   * Shows lanes, best head first by (effective priority, age), until `choose` returns something. Each lane is shown at most
   * once, so a model that cannot go now holds up no other.
   */
  pick<T>(nowMs: number, choose: (lane: LaneView, aged: boolean) => T | undefined): T | undefined {
    const passed: ModelLane<P>[] = [];
    try {
      for (let lane = this.#best(nowMs); lane !== undefined; lane = this.#best(nowMs)) {
        const chosen = choose(lane, this.#isAged(lane, nowMs));
        if (chosen !== undefined) return chosen;
        this.#heads(lane).remove(lane);
        passed.push(lane);
      }
      return undefined;
    } finally {
      for (const lane of passed) this.#headChanged(lane);
    }
  }

  /** Removes and returns the `count` oldest of a lane, fewer when fewer wait. */
  take(lane: Pick<LaneView, 'model' | 'priority'>, count: number): ScheduledRequest<P>[] {
    const from = this.#laneOf(lane);
    const taken: ScheduledRequest<P>[] = [];
    for (let node = from.head; node !== undefined && taken.length < count; node = from.head) {
      this.#removed(node, from);
      taken.push(node.request);
    }
    return taken;
  }

  /** Everybody who waits, in dispatch order. O(n log n): for admin listings. */
  snapshot(nowMs: number): QueuedView<P>[] {
    const all = [...this.#lanes.values()].flatMap(({ realtime, batch }) => [...realtime, ...batch]);
    const views = all.map(request => ({ request, aged: isAged(request, nowMs, this.#agingMs), position: 0 }));
    views.sort((a, b) => level(a) - level(b) || a.request.enqueuedAtMs - b.request.enqueuedAtMs);
    const lastOf = new Map<string, number>();
    for (const view of views) {
      view.position = (lastOf.get(view.request.model) ?? 0) + 1;
      lastOf.set(view.request.model, view.position);
    }
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
    return lane.head !== undefined && isAged(lane.head.request, nowMs, this.#agingMs);
  }

  #refuseDuplicate(request: ScheduledRequest<P>): void {
    if (!this.#nodes.has(request.id)) return;
    throw new DomainError('duplicate_request_id', `Request ${request.id} is waiting already.`);
  }

  #added(node: WaitingRequest<P>, lane: ModelLane<P>): void {
    const { request } = node;
    this.#nodes.set(request.id, node);
    this.#deadlines.add(node);
    this.#bytes += request.bytes;
    if (lane.priority === RequestPriority.REALTIME) this.#realtime += 1;
    if (lane.head === node) this.#headChanged(lane);
  }

  #removed(node: WaitingRequest<P>, lane = this.#laneOf(node.request)): void {
    const { request } = node;
    const wasHead = lane.head === node;
    lane.leave(node);
    this.#nodes.delete(request.id);
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

  #laneOf({ model, priority }: Pick<LaneView, 'model' | 'priority'>): ModelLane<P> {
    let lanes = this.#lanes.get(model);
    if (lanes === undefined) {
      lanes = {
        realtime: new ModelLane<P>(model, RequestPriority.REALTIME),
        batch: new ModelLane<P>(model, RequestPriority.BATCH),
      };
      this.#lanes.set(model, lanes);
    }
    return priority === RequestPriority.REALTIME ? lanes.realtime : lanes.batch;
  }
}

/** Aged BATCH competes with REALTIME, by age. */
function level(view: { readonly request: ScheduledRequest; readonly aged: boolean }): RequestPriority {
  return view.aged ? RequestPriority.REALTIME : view.request.priority;
}
