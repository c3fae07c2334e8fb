import { type WeightOf } from '../order/account.js';
import { type HeapItem, type KeyedHeap } from '../order/keyed-heap.js';
import { WeightedLane } from '../order/weighted-lane.js';
import { type RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';

const equalWeights: WeightOf = () => 1;

/** Waiting requests of one model at one priority. */
export class ModelLane extends WeightedLane<ScheduledRequest> implements HeapItem {
  heapIndex = -1;
  /** Since when only the window delays it: the start of `batch_wait`. */
  heldSinceMs: number | undefined;

  /** @param heads all lanes of this priority that have requests */
  constructor(
    readonly model: string,
    readonly priority: RequestPriority,
    readonly heads: KeyedHeap<ModelLane>,
    weightOf: WeightOf = equalWeights,
  ) {
    super(weightOf);
  }

  hold(nowMs: number): void {
    this.heldSinceMs ??= nowMs;
  }

  letGo(): void {
    this.heldSinceMs = undefined;
  }

  get firstEnqueuedAtMs(): number {
    return this.ages.first?.of.item.enqueuedAtMs ?? Infinity;
  }

  get lastEnqueuedAtMs(): number {
    return this.ages.last?.of.item.enqueuedAtMs ?? -Infinity;
  }
}
