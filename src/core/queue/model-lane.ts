import { type RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { isAged } from '../request/aging-policy.js';
import { type HeapItem } from './keyed-heap.js';
import { type WaitingRequest } from './waiting-request.js';

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
  /** Of the oldest. */
  readonly firstAffinity: string | undefined;
  /** Of the oldest. */
  readonly firstAvoid: readonly string[] | undefined;
}

/**
 * FIFO queue of one model at one priority: an intrusive doubly linked list, oldest first. Insert, remove and count are
 * O(1). Its heap fields belong to the queue's heap of lane heads.
 */
export class ModelLane<P> implements ModelLaneView, HeapItem {
  heapIndex = -1;
  #head: WaitingRequest<P> | undefined;
  #tail: WaitingRequest<P> | undefined;
  /** First request not yet reported as aged. */
  #young: WaitingRequest<P> | undefined;
  #size = 0;
  #bytes = 0;

  constructor(
    readonly model: string,
    readonly priority: RequestPriority,
  ) {}

  get head(): WaitingRequest<P> | undefined {
    return this.#head;
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

  get firstAffinity(): string | undefined {
    return this.#head?.request.affinity;
  }

  get firstAvoid(): readonly string[] | undefined {
    return this.#head?.request.avoid;
  }

  /** Adds a new request behind all of its age or older. Searches from the end. */
  append(request: ScheduledRequest<P>): WaitingRequest<P> {
    let ahead = this.#tail;
    while (ahead !== undefined && ahead.request.enqueuedAtMs > request.enqueuedAtMs) ahead = ahead.ahead;
    const node = this.#link(request, ahead);
    if (request.enqueuedAtMs < this.firstYoungAtMs) this.#young = node;
    return node;
  }

  /** Re-adds a request that was at the head, ahead of all of its age or younger. Searches from the front. */
  restore(request: ScheduledRequest<P>): WaitingRequest<P> {
    let behind = this.#head;
    while (behind !== undefined && behind.request.enqueuedAtMs < request.enqueuedAtMs) behind = behind.behind;
    const node = this.#link(request, behind === undefined ? this.#tail : behind.ahead);
    if (request.enqueuedAtMs <= this.firstYoungAtMs) this.#young = node;
    return node;
  }

  /** Requests that are `agingMs` old and not yet reported, oldest first. */
  aged(nowMs: number, agingMs: number): ScheduledRequest<P>[] {
    const aged: ScheduledRequest<P>[] = [];
    for (let node = this.#young; node && isAged(node.request, nowMs, agingMs); node = node.behind) {
      if (!node.aged) aged.push(node.request);
      node.aged = true;
      this.#young = node.behind;
    }
    return aged;
  }

  remove(node: WaitingRequest<P>): void {
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

  #link(request: ScheduledRequest<P>, ahead: WaitingRequest<P> | undefined): WaitingRequest<P> {
    const behind = ahead === undefined ? this.#head : ahead.behind;
    const node: WaitingRequest<P> = { request, ahead, behind, sooner: undefined, later: undefined, aged: false };
    if (ahead === undefined) this.#head = node;
    else ahead.behind = node;
    if (behind === undefined) this.#tail = node;
    else behind.ahead = node;
    this.#size += 1;
    this.#bytes += request.bytes;
    return node;
  }
}
