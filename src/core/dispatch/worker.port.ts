import { type Observable } from 'rxjs';
import { type Lease } from '../shared/lease.js';

/** What the best ready worker of a model can take right now. */
export interface SlotOffer {
  readonly workerId: string;
  /** Free request credits, at least 1 (D-24). */
  readonly free: number;
  /** True when the worker has no request at all: its device is waiting for us. */
  readonly idle: boolean;
  /** Largest group one engine call of this worker takes. */
  readonly maxBatch: number;
}

/** Capacity as the dispatcher sees it: ask first, choose work second (D-01). */
export interface WorkerPort {
  /** The worker of `model` to use next, or undefined while none is ready with a free slot. O(workers of the model). */
  offer(model: string): SlotOffer | undefined;
  /** Takes `count` slots of a worker just offered. Throws when fewer are free: a plan never exceeds its offer. */
  lease(workerId: string, count: number): readonly Lease[];
  /** Emits the model whose capacity may have grown (slot released, worker became ready). */
  readonly capacity$: Observable<string>;
}
