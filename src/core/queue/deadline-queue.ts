import { type ScheduledRequest } from '../request/scheduled-request.js';
import { DeadlineList } from './deadline-list.js';
import { KeyedHeap } from './keyed-heap.js';
import { type WaitingRequest } from './tenant-queue.js';

/**
 * Waiting requests by queue deadline (D-07). Requests with the same timeout (normally all: `queue.timeout_ms`) expire
 * in the order of their arrival, so they share one list, and only the heads of the lists are compared: O(1) with one
 * timeout, O(log of their number) with many.
 */
export class DeadlineQueue<P> {
  readonly #lists = new Map<number, DeadlineList<P>>();
  readonly #heads = new KeyedHeap<DeadlineList<P>>();

  /** The request with the earliest deadline. */
  get first(): WaitingRequest<P> | undefined {
    return this.#heads.top?.first;
  }

  add(node: WaitingRequest<P>): void {
    const timeout = timeoutMs(node.request);
    let list = this.#lists.get(timeout);
    if (list === undefined) this.#lists.set(timeout, (list = new DeadlineList<P>()));
    list.insert(node);
    if (list.first === node) this.#heads.put(list, node.request.queueDeadlineMs);
  }

  remove(node: WaitingRequest<P>): void {
    const timeout = timeoutMs(node.request);
    const list = this.#lists.get(timeout);
    if (list === undefined) return;
    const wasFirst = list.first === node;
    list.remove(node);
    if (!wasFirst) return;
    if (list.first !== undefined) this.#heads.put(list, list.first.request.queueDeadlineMs);
    else {
      this.#heads.remove(list);
      this.#lists.delete(timeout);
    }
  }
}

/**
 * Integer milliseconds, since sums of fractions differ in their last bits. Within a list the exact deadline decides.
 */
function timeoutMs({ queueDeadlineMs, enqueuedAtMs }: ScheduledRequest): number {
  return Math.round(queueDeadlineMs - enqueuedAtMs);
}
