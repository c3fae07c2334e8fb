import { type ScheduledRequest } from '../request/scheduled-request.js';
import { DeadlineLine } from './deadline-line.js';
import { KeyedHeap } from './keyed-heap.js';
import { type WaitingRequest } from './waiting-request.js';

/**
 * Who runs out of patience next (D-07). Requests of the same patience (normally all: `queue.timeout_ms`) expire in the order
 * they came, so they stand in one line each and only the heads of the lines are compared: O(1) with one patience, O(log of
 * their number) with many.
 */
export class DeadlineBook<P> {
  readonly #lines = new Map<number, DeadlineLine<P>>();
  readonly #heads = new KeyedHeap<DeadlineLine<P>>();

  /** The earliest of all. */
  get first(): WaitingRequest<P> | undefined {
    return this.#heads.top?.first;
  }

  add(node: WaitingRequest<P>): void {
    const patience = patienceMs(node.request);
    let line = this.#lines.get(patience);
    if (line === undefined) this.#lines.set(patience, (line = new DeadlineLine<P>()));
    line.join(node);
    if (line.first === node) this.#heads.put(line, node.request.queueDeadlineMs);
  }

  remove(node: WaitingRequest<P>): void {
    const patience = patienceMs(node.request);
    const line = this.#lines.get(patience);
    if (line === undefined) return;
    const wasFirst = line.first === node;
    line.leave(node);
    if (!wasFirst) return;
    if (line.first !== undefined) this.#heads.put(line, line.first.request.queueDeadlineMs);
    else {
      this.#heads.remove(line);
      this.#lines.delete(patience);
    }
  }
}

/** Whole milliseconds, because sums of fractions differ in their last bits; within a line the exact deadline decides. */
function patienceMs({ queueDeadlineMs, enqueuedAtMs }: ScheduledRequest): number {
  return Math.round(queueDeadlineMs - enqueuedAtMs);
}
