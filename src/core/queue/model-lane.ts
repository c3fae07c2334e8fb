import { type RequestPriority } from '../request/request-priority.js';
import { type Placement, type ScheduledRequest } from '../request/scheduled-request.js';
import { isAged } from '../request/aging-policy.js';
import { type HeapItem } from './keyed-heap.js';
import { LanePreview } from './lane-preview.js';
import { ownerOf, TenantShares, type WeightOf } from './tenant-shares.js';
import { type RequestOrder, orderMsOf, type WaitingRequest } from './tenant-queue.js';

/** Read-only view of a lane that is not empty. */
export interface ModelLaneView {
  readonly model: string;
  readonly priority: RequestPriority;
  /** Waiting requests. */
  readonly size: number;
  readonly firstEnqueuedAtMs: number;
  readonly lastEnqueuedAtMs: number;
  /** Enqueue time of the oldest request not yet reported as aged; Infinity if there is none. */
  readonly firstYoungAtMs: number;
  /** The request that goes next. */
  readonly nextRequest: Placement | undefined;
}

/** Waiting requests and bytes of one tenant in a lane, and the number of tenants that wait in it. */
export interface TenantLoad {
  readonly requests: number;
  readonly bytes: number;
  readonly tenants: number;
}

export interface ModelLaneOptions<P> {
  readonly weightOf: WeightOf;
  /** Bound of the order by latest start (D-26); absent: none. */
  readonly agingMs?: number;
  /** The REALTIME lane that aged requests of this one compete with. */
  readonly rival?: ModelLane<P>;
}

/** One literal with every field, so that all nodes have one shape. */
const newNode = <P>(
  request: ScheduledRequest<P>,
  orderMs: number,
  ahead: WaitingRequest<P> | undefined,
  behind: WaitingRequest<P> | undefined,
): WaitingRequest<P> => ({
  request,
  orderMs,
  ahead,
  behind,
  before: undefined,
  after: undefined,
  queue: undefined,
  sooner: undefined,
  later: undefined,
  aged: false,
});

const equalWeights: WeightOf = () => 1;

/**
 * Waiting requests of one model at one priority: an intrusive doubly linked list, oldest first. Count is O(1); insert
 * and remove are O(log tenants), since `TenantShares` decides which tenant is next; within a tenant it is first in,
 * first out, or by latest start where that is known (D-26). Its heap fields belong to the queue's heap of lane heads.
 */
export class ModelLane<P> implements ModelLaneView, HeapItem {
  heapIndex = -1;
  #head: WaitingRequest<P> | undefined;
  #tail: WaitingRequest<P> | undefined;
  /** First request not yet reported as aged. */
  #young: WaitingRequest<P> | undefined;
  /** Aged, and not yet reported. */
  #unreported: WaitingRequest<P>[] = [];
  #size = 0;
  #bytes = 0;
  readonly #shares: TenantShares<P>;

  constructor(
    readonly model: string,
    readonly priority: RequestPriority,
    private readonly options: ModelLaneOptions<P> = { weightOf: equalWeights },
  ) {
    this.#shares = new TenantShares<P>(options.weightOf);
  }

  /** The oldest. */
  get head(): WaitingRequest<P> | undefined {
    return this.#head;
  }

  /** The one that goes next. Beside waiting REALTIME, BATCH has only turns for aged requests (D-03). */
  get next(): WaitingRequest<P> | undefined {
    const { rival } = this.options;
    return this.#shares.next(rival !== undefined && rival.size > 0);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get firstEnqueuedAtMs(): number {
    return this.#head?.request.enqueuedAtMs ?? Infinity;
  }

  get lastEnqueuedAtMs(): number {
    return this.#tail?.request.enqueuedAtMs ?? -Infinity;
  }

  get firstYoungAtMs(): number {
    return this.#young?.request.enqueuedAtMs ?? Infinity;
  }

  get nextRequest(): ScheduledRequest<P> | undefined {
    return this.next?.request;
  }

  loadOf(tenant: string): TenantLoad {
    const { size = 0, bytes = 0 } = this.#shares.of(tenant) ?? {};
    return { requests: size, bytes, tenants: this.#shares.tenants };
  }

  /** Largest start tag served: how far the lane has come (D-25). */
  get virtualTime(): number {
    return this.#shares.virtualTime;
  }

  /** Where such a request starts in virtual time if it comes now. */
  startTagOf(request: RequestOrder & Pick<ScheduledRequest, 'tenant'>): number {
    return this.#shares.startTagOf(ownerOf(request), this.#orderMs(request));
  }

  /** Takes over the accounts of another lane with the same requests. */
  resume(other: ModelLane<unknown>): void {
    this.#shares.resume(other.#shares);
  }

  /** Adds a new request behind all of its age or older. Searches from the end. */
  append(request: ScheduledRequest<P>): WaitingRequest<P> {
    let ahead = this.#tail;
    while (ahead !== undefined && ahead.request.enqueuedAtMs > request.enqueuedAtMs) ahead = ahead.ahead;
    const node = this.#link(request, ahead);
    this.#shares.append(node);
    if (request.enqueuedAtMs < this.firstYoungAtMs) this.#young = node;
    return node;
  }

  /** Re-adds a request that was at the head, ahead of all of its age or younger. Searches from the front. */
  restore(request: ScheduledRequest<P>): WaitingRequest<P> {
    let behind = this.#head;
    while (behind !== undefined && behind.request.enqueuedAtMs < request.enqueuedAtMs) behind = behind.behind;
    const node = this.#link(request, behind === undefined ? this.#tail : behind.ahead);
    this.#shares.restore(node);
    if (request.enqueuedAtMs <= this.firstYoungAtMs) this.#young = node;
    return node;
  }

  /** Requests that are `agingMs` old and not yet reported, oldest first. */
  aged(nowMs: number, agingMs: number): ScheduledRequest<P>[] {
    this.#noticeAged(nowMs, agingMs);
    if (this.#unreported.length === 0) return [];
    const waiting = this.#unreported.filter(node => node.queue !== undefined);
    this.#unreported = [];
    return waiting.map(({ request }) => request);
  }

  /** True when a waiting request is `agingMs` old: from then on it competes with REALTIME. */
  hasAged(nowMs: number, agingMs: number): boolean {
    this.#noticeAged(nowMs, agingMs);
    return this.#shares.hasAged;
  }

  /** The order from here on. */
  preview(nowMs: number, agingMs: number): LanePreview<P> {
    const { weightOf } = this.options;
    return new LanePreview(this.#shares.waiting(), {
      weightOf,
      isAged: ({ request }) => isAged(request, nowMs, agingMs),
    });
  }

  /** The request is sent to a worker: charges its tenant. `remove` follows. */
  charge(node: WaitingRequest<P>): void {
    this.#shares.charge(node);
  }

  /** A request that was sent took `ms` more device time than it was charged; less if negative. */
  correct(request: ScheduledRequest<P>, ms: number): void {
    this.#shares.correct(ownerOf(request), ms);
  }

  remove(node: WaitingRequest<P>): void {
    this.#shares.remove(node);
    if (node === this.#young) this.#young = node.behind;
    if (node.ahead === undefined) this.#head = node.behind;
    else node.ahead.behind = node.behind;
    if (node.behind === undefined) this.#tail = node.ahead;
    else node.behind.ahead = node.ahead;
    node.ahead = node.behind = undefined;
    this.#size -= 1;
    this.#bytes -= node.request.bytes;
  }

  *[Symbol.iterator](): Iterator<ScheduledRequest<P>> {
    for (let node = this.#head; node !== undefined; node = node.behind) yield node.request;
  }

  #orderMs(request: RequestOrder): number {
    return orderMsOf(request, this.options.agingMs ?? Infinity);
  }

  #noticeAged(nowMs: number, agingMs: number): void {
    for (let node = this.#young; node && isAged(node.request, nowMs, agingMs); node = node.behind) {
      this.#young = node.behind;
      if (node.aged) continue;
      node.aged = true;
      this.#unreported.push(node);
      this.#shares.aged(node);
    }
  }

  #link(request: ScheduledRequest<P>, ahead: WaitingRequest<P> | undefined): WaitingRequest<P> {
    const behind = ahead === undefined ? this.#head : ahead.behind;
    const node = newNode(request, this.#orderMs(request), ahead, behind);
    if (ahead === undefined) this.#head = node;
    else ahead.behind = node;
    if (behind === undefined) this.#tail = node;
    else behind.ahead = node;
    this.#size += 1;
    this.#bytes += request.bytes;
    return node;
  }
}
