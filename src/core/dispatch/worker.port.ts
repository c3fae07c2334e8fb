import { type Observable } from 'rxjs';
import { type Lease } from '../shared/lease.js';

/** What the best ready worker of a model can take right now. */
export interface SlotOffer {
  readonly workerId: string;
  /** Request credits that anybody may take; 0 or more (D-24). */
  readonly free: number;
  /**
   * Request credits that REALTIME may take: `free` and an overdraft of one group, `maxBatch` in all; at least 1. The overdraft
   * gets it to the worker while BATCH holds every slot, so that it goes first when the device takes its next group (D-24).
   */
  readonly urgent: number;
  /** True when the worker has no request at all: its device is waiting for us. */
  readonly idle: boolean;
  /** Largest group one engine call of this worker takes. */
  readonly maxBatch: number;
}

/** What a plan draws on: the credit of an offer by that name. Who may draw on which is said in slot-credit.ts. */
export type SlotCredit = 'free' | 'urgent';

/** Capacity as the dispatcher sees it: ask first, choose work second (D-01). */
export interface WorkerPort {
  /**
   * The worker of `model` to use next: the largest free share of its slots, then the largest urgent one. Undefined while none is
   * ready with either, so the overdraft is offered only when no worker of the model has a free slot. Asked only while something
   * waits for the model: it may start its workers. O(workers of the model).
   * @param affinity of the request that would go: its favourite is preferred while it is not clearly fuller than others
   * @param avoid workers that gave the request back: not offered while another one serves
   */
  offer(model: string, affinity?: string, avoid?: readonly string[]): SlotOffer | undefined;
  /** Takes `count` slots of a worker just offered. Throws when it has fewer of that credit: a plan never exceeds its offer. */
  lease(workerId: string, count: number, credit: SlotCredit): readonly Lease[];
  /** Emits the model whose capacity of either credit may have grown (slot released, worker became ready). */
  readonly capacity$: Observable<string>;
}
