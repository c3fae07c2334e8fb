import { type ScheduledRequest } from '../request/scheduled-request.js';
import { type AgedPlace, type Contender } from './tenant-order.js';

/** What a request is charged when it is sent, in device milliseconds; corrected when its time is known. */
export const costOf = ({ costMs = 1 }: Pick<ScheduledRequest, 'costMs'>): number => costMs;

/** A waiting request with its links in its lane, in the queue of its tenant, and in its deadline list. */
export interface WaitingRequest<P> {
  readonly request: ScheduledRequest<P>;
  /** Its place within its tenant; of equal ones the older is first. */
  readonly orderMs: number;
  /** Neighbours in the lane; only ModelLane writes them. */
  ahead: WaitingRequest<P> | undefined;
  behind: WaitingRequest<P> | undefined;
  /** Neighbours of the same tenant, and their queue while it waits; only TenantQueue writes them. */
  before: WaitingRequest<P> | undefined;
  after: WaitingRequest<P> | undefined;
  queue: TenantQueue<P> | undefined;
  /** Neighbours by queue deadline; only DeadlineList writes them. */
  sooner: WaitingRequest<P> | undefined;
  later: WaitingRequest<P> | undefined;
  /** Its age was noticed; only ModelLane writes it. */
  aged: boolean;
}

/** What decides the place of a request within its tenant. */
export type RequestOrder = Pick<ScheduledRequest, 'enqueuedAtMs' | 'latestStartMs'>;

/**
 * By latest start (D-26). A request without one counts as if it had to start when it ages, and none counts as later
 * than that: no request is overtaken by one that came more than `agingMs` after it.
 */
export const orderMsOf = ({ latestStartMs = Infinity, enqueuedAtMs }: RequestOrder, agingMs: number): number =>
  Math.min(latestStartMs, enqueuedAtMs + agingMs);

const isBefore = (node: WaitingRequest<unknown>, other: WaitingRequest<unknown>): boolean =>
  node.orderMs < other.orderMs ||
  (node.orderMs === other.orderMs && node.request.enqueuedAtMs < other.request.enqueuedAtMs);

/** Waiting requests of one tenant in a lane, in their order, and where the next one starts in virtual time (D-25). */
export class TenantQueue<P> implements Contender<TenantQueue<P>> {
  heapIndex = -1;
  readonly agedPlace: AgedPlace<TenantQueue<P>> = { heapIndex: -1, contender: this };
  startTag = 0;
  size = 0;
  bytes = 0;
  /** Estimated work of what waits. */
  costMs = 0;
  #first: WaitingRequest<P> | undefined;
  #last: WaitingRequest<P> | undefined;

  constructor(readonly tenant: string) {}

  get first(): WaitingRequest<P> | undefined {
    return this.#first;
  }

  /** Adds a new request behind its equals. Searches from the end. */
  append(node: WaitingRequest<P>): void {
    let before = this.#last;
    while (before !== undefined && isBefore(node, before)) before = before.before;
    this.#link(node, before);
  }

  /** Re-adds a request ahead of its equals. Searches from the front. */
  restore(node: WaitingRequest<P>): void {
    let after = this.#first;
    while (after !== undefined && isBefore(after, node)) after = after.after;
    this.#link(node, after === undefined ? this.#last : after.before);
  }

  remove(node: WaitingRequest<P>): void {
    const { before, after } = node;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    node.before = node.after = node.queue = undefined;
    this.size -= 1;
    this.bytes -= node.request.bytes;
    // Sums of fractions drift.
    this.costMs = this.size > 0 ? this.costMs - costOf(node.request) : 0;
  }

  /** Work of the requests that would go before one of that order. */
  workBeforeMs(orderMs: number): number {
    let workMs = this.costMs;
    for (let node = this.#last; node !== undefined && node.orderMs > orderMs; node = node.before)
      workMs -= costOf(node.request);
    return Math.max(0, workMs);
  }

  #link(node: WaitingRequest<P>, before: WaitingRequest<P> | undefined): void {
    const after = before === undefined ? this.#first : before.after;
    node.before = before;
    node.after = after;
    node.queue = this;
    if (before === undefined) this.#first = node;
    else before.after = node;
    if (after === undefined) this.#last = node;
    else after.before = node;
    this.size += 1;
    this.bytes += node.request.bytes;
    this.costMs += costOf(node.request);
  }
}
