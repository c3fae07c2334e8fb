import { type Placement } from '../request/scheduled-request.js';
import { type Lease } from './lease.js';

/** What the best ready worker of a model can accept now. */
export interface SlotOffer {
  readonly workerId: string;
  /** Request credits for any priority; 0 or more (D-24). */
  readonly free: number;
  /**
   * Request credits for REALTIME: `free` plus an overdraft of one group, `maxBatch` in
   * all; at least 1. With the overdraft it reaches the worker while BATCH holds every
   * slot, and goes first in the next group of the device (D-24).
   */
  readonly urgent: number;
  /** True when the worker has no request. */
  readonly idle: boolean;
  /** Largest group of one engine call. */
  readonly maxBatch: number;
}

/** The same of one of several workers, with what decides between them. */
export interface WorkerOffer extends SlotOffer {
  /** Request credits in all; 1 or more. */
  readonly total: number;
  /** Recent duration of its calls; 0: none yet. */
  readonly latencyMs: number;
  /**
   * One request shows whether a worker that was suspended serves again: it goes first, or
   * the worker would stay out while others idle.
   */
  readonly isTrial?: boolean;
}

/** The credit of an offer that a plan uses; slot-credit.ts decides which. */
export type SlotCredit = 'free' | 'urgent';

/** Capacity as the dispatcher sees it: capacity first, then work (D-01). */
export interface WorkerPort {
  /**
   * The worker of `model` to use next: the largest free share of its slots, then the
   * largest urgent one. Undefined while none is ready with either, so the overdraft is
   * offered only when no worker of the model has a free slot. Asked only while something
   * waits for the model: it may start its workers. O(workers of the model).
   * @param next the request that would go: the favourite of its `affinity` is preferred
   *   while it is not clearly fuller
   *   than others, workers in `avoid` are not offered while another one serves, and a suspect shares no worker with
   *   requests that are none (D-38)
   */
  offer(model: string, next?: Placement): SlotOffer | undefined;
  /**
   * Leases `count` slots of a worker that was just offered. Throws if it has fewer.
   * @param mostTogether of the requests that go
   */
  lease(
    workerId: string,
    count: number,
    credit: SlotCredit,
    mostTogether?: number,
  ): readonly Lease[];
}
