import { FairLane } from '../order/fair-lane.js';
import { type WeightOf } from '../order/account.js';
import { FairOrder } from '../order/fair-order.js';
import { type HeapItem, type KeyedHeap } from '../order/keyed-heap.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';

export interface AgingOptions {
  /** Milliseconds after which a BATCH request is aged (`queue.aging_ms`, 30000). */
  readonly agingMs: number;
  /**
   * Share of the turns that aged requests get while REALTIME waits as well
   * (`queue.aging_share`, 0.25).
   */
  readonly agingShare: number;
}

export interface QueueOptions extends AgingOptions {
  /** Absent: all tenants are equal. */
  readonly weightOf?: WeightOf;
}

const equalWeights: WeightOf = () => 1;

/** Waiting requests of one model at one priority. */
export class ModelLane extends FairLane<ScheduledRequest> implements HeapItem {
  heapIndex = -1;
  /**
   * Since when only the window delays it: the start of `batch_wait`. Only the
   * dispatcher writes it.
   */
  heldSinceMs: number | undefined;
  /** Both lanes of its model. Only `modelOrder` writes it. */
  order!: ModelOrder;

  /** @param heads of the lanes of its priority that have requests */
  constructor(
    readonly model: string,
    readonly priority: RequestPriority,
    readonly heads: KeyedHeap<ModelLane>,
    weightOf: WeightOf = equalWeights,
  ) {
    super(weightOf);
  }

  get firstEnqueuedAtMs(): number {
    return this.ages.first?.of.item.enqueuedAtMs ?? Infinity;
  }

  get lastEnqueuedAtMs(): number {
    return this.ages.last?.of.item.enqueuedAtMs ?? -Infinity;
  }
}

/** The requests of one model, in both lanes. */
export type ModelOrder = FairOrder<ScheduledRequest, ModelLane>;

export type LaneHeads = Readonly<Record<RequestPriority, KeyedHeap<ModelLane>>>;

export function modelOrder(
  model: string,
  heads: LaneHeads,
  { agingShare, weightOf }: QueueOptions,
): ModelOrder {
  const laneOf = (priority: RequestPriority) =>
    new ModelLane(model, priority, heads[priority], weightOf);
  const realtime = laneOf(RequestPriority.REALTIME);
  const batch = laneOf(RequestPriority.BATCH);
  const order: ModelOrder = new FairOrder({ realtime, batch, agingShare });
  realtime.order = order;
  batch.order = order;
  return order;
}
