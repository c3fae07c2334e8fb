import { type HeapItem } from './keyed-heap.js';
import { type WaitingRequest } from './tenant-queue.js';

/** Requests with the same timeout, earliest queue deadline first: an intrusive list. */
export class DeadlineList<P> implements HeapItem {
  heapIndex = -1;
  #first: WaitingRequest<P> | undefined;
  #last: WaitingRequest<P> | undefined;

  get first(): WaitingRequest<P> | undefined {
    return this.#first;
  }

  /** Searches from the end: only a re-queued request, which is older, needs more than one step. */
  insert(node: WaitingRequest<P>): void {
    const { queueDeadlineMs } = node.request;
    let sooner = this.#last;
    while (sooner !== undefined && sooner.request.queueDeadlineMs > queueDeadlineMs) sooner = sooner.sooner;
    const later = sooner === undefined ? this.#first : sooner.later;
    node.sooner = sooner;
    node.later = later;
    if (sooner === undefined) this.#first = node;
    else sooner.later = node;
    if (later === undefined) this.#last = node;
    else later.sooner = node;
  }

  remove(node: WaitingRequest<P>): void {
    const { sooner, later } = node;
    if (sooner === undefined) this.#first = later;
    else sooner.later = later;
    if (later === undefined) this.#last = sooner;
    else later.sooner = sooner;
    node.sooner = node.later = undefined;
  }
}
