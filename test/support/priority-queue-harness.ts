import { PriorityQueue } from '../../src/core/queue/priority-queue.js';
import { aRealtimeRequest, aRequest } from './requests.js';

export const AGING_MS = 30_000;

/** A queue, and short ways to fill and empty it. */
export class PriorityQueueHarness {
  readonly queue: PriorityQueue;

  constructor(change: Partial<PriorityQueue['options']> = {}) {
    this.queue = new PriorityQueue({ agingMs: AGING_MS, agingShare: 0.25, ...change });
  }

  batch(id: string, enqueuedAtMs: number, model = 'm'): void {
    this.queue.enqueue(aRequest(id, { enqueuedAtMs, model }));
  }

  realtime(id: string, enqueuedAtMs: number, model = 'm'): void {
    this.queue.enqueue(aRealtimeRequest(id, { enqueuedAtMs, model }));
  }

  /** Takes one request: the head of the best lane whose model is not held back. */
  takeOne(nowMs: number, heldModels: readonly string[] = []): string | undefined {
    return this.queue.pick(nowMs, lane =>
      heldModels.includes(lane.model) ? undefined : this.queue.take(lane, 1).map(({ id }) => id)[0],
    );
  }

  /** Ids in the order in which they are taken. */
  takeAll(nowMs: number): string {
    let order = '';
    for (let id = this.takeOne(nowMs); id !== undefined; id = this.takeOne(nowMs)) order += id;
    return order;
  }
}
