import { type HeapItem } from './keyed-heap.js';
import { type WaitingRequest } from './waiting-request.js';

/** Requests of equal patience, earliest queue deadline first: an intrusive list that newcomers join at its end. */
export class DeadlineLine<P> implements HeapItem {
  heapIndex = -1;
  #first: WaitingRequest<P> | undefined;
  #last: WaitingRequest<P> | undefined;

  get first(): WaitingRequest<P> | undefined {
    return this.#first;
  }

  /** Walks from the end: only a re-queued request, which is older, goes further than one step. */
  join(node: WaitingRequest<P>): void {
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

  leave(node: WaitingRequest<P>): void {
    const { sooner, later } = node;
    if (sooner === undefined) this.#first = later;
    else sooner.later = later;
    if (later === undefined) this.#last = sooner;
    else later.sooner = sooner;
    node.sooner = node.later = undefined;
  }
}
