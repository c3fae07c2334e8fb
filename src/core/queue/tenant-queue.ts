import { type ScheduledRequest } from '../request/scheduled-request.js';
import { type AgedPlace, type Contender } from './tenant-order.js';

/** What a request is charged when it is sent, in device milliseconds; corrected when its time is known. */
export const costOf = ({ costMs = 1 }: Pick<ScheduledRequest, 'costMs'>): number => costMs;

/** A waiting request with its links in its lane, in the queue of its tenant, and in its deadline list. */
export interface WaitingRequest<P> {
  readonly request: ScheduledRequest<P>;
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

/** Waiting requests of one tenant in a lane, oldest first, and where the next of them starts in virtual time (D-25). */
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

  /** Adds a new request behind all of its age or older. Searches from the end. */
  append(node: WaitingRequest<P>): void {
    let before = this.#last;
    while (before !== undefined && before.request.enqueuedAtMs > node.request.enqueuedAtMs) before = before.before;
    this.#link(node, before);
  }

  /** Re-adds a request ahead of all of its age or younger. Searches from the front. */
  restore(node: WaitingRequest<P>): void {
    let after = this.#first;
    while (after !== undefined && after.request.enqueuedAtMs < node.request.enqueuedAtMs) after = after.after;
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
    this.costMs = this.size > 0 ? this.costMs - costOf(node.request) : 0;
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
