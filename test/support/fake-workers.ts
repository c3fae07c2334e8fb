import { type Observable, Subject } from 'rxjs';
import { Lease } from '../../src/core/shared/lease.js';
import { type SlotOffer, type WorkerPort } from '../../src/core/dispatch/worker.port.js';

export interface FakeWorker {
  readonly workerId: string;
  readonly model: string;
  /** Request credits (D-24); 16 unless told: one group of 8 on the device, one ahead. */
  readonly slots: number;
  /** Largest group; 8 unless told. */
  readonly maxBatch: number;
  /** Says "not idle" even with all slots free, as if its device were computing for somebody else. */
  busy: boolean;
  ready: boolean;
  free: number;
}

/** WorkerPort in memory, with the pool's rules: least loaded first, a lease never exceeds what is free. */
export class FakeWorkers implements WorkerPort {
  readonly #workers = new Map<string, FakeWorker>();
  readonly #byModel = new Map<string, FakeWorker[]>();
  readonly #capacity = new Subject<string>();
  readonly capacity$: Observable<string> = this.#capacity.asObservable();
  /** Calls of `lease`, oldest first. */
  readonly leaseCalls: { readonly workerId: string; readonly count: number }[] = [];

  /** A ready worker, idle until leased; its id is the model's name unless told. */
  add(model: string, options: Partial<Omit<FakeWorker, 'model' | 'free'>> = {}): FakeWorker {
    const slots = options.slots ?? 16;
    const worker: FakeWorker = {
      workerId: options.workerId ?? model,
      model,
      slots,
      maxBatch: options.maxBatch ?? 8,
      busy: options.busy ?? false,
      ready: options.ready ?? true,
      free: slots,
    };
    this.#workers.set(worker.workerId, worker);
    this.#byModel.set(model, [...(this.#byModel.get(model) ?? []), worker]);
    return worker;
  }

  offer(model: string): SlotOffer | undefined {
    let best: FakeWorker | undefined;
    for (const worker of this.#byModel.get(model) ?? []) {
      if (worker.ready && worker.free > 0 && worker.free > (best?.free ?? 0)) best = worker;
    }
    if (best === undefined) return undefined;
    const { workerId, free, maxBatch, slots, busy } = best;
    return { workerId, free, maxBatch, idle: free === slots && !busy };
  }

  lease(workerId: string, count: number): readonly Lease[] {
    const worker = this.#workers.get(workerId);
    if (worker === undefined || worker.free < count) throw new Error(`${workerId} has no ${count} free slots.`);
    this.leaseCalls.push({ workerId, count });
    worker.free -= count;
    return Array.from({ length: count }, () => new Lease(() => this.#released(worker)));
  }

  /** The worker became ready, or stopped being so; its leases stay as they are. */
  setReady(workerId: string, ready: boolean): void {
    const worker = this.#workers.get(workerId);
    if (worker === undefined) throw new Error(`No worker ${workerId}.`);
    worker.ready = ready;
    if (ready) this.#capacity.next(worker.model);
  }

  #released(worker: FakeWorker): void {
    worker.free += 1;
    this.#capacity.next(worker.model);
  }
}
