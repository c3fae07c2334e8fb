import { type Observable, Subject } from 'rxjs';
import { Lease } from '../../src/core/shared/lease.js';
import { type SlotCredit, type SlotOffer, type WorkerPort } from '../../src/core/dispatch/worker.port.js';

export interface FakeWorkerOptions {
  /** The model's name unless told. */
  readonly workerId?: string;
  /** Request credits (D-24); 16 unless told: one group of 8 on the device, one ahead. */
  readonly slots?: number;
  /** Largest group; 8 unless told. */
  readonly maxBatch?: number;
  /** What REALTIME may take beyond the slots; one group unless told. */
  readonly overdraft?: number;
  /** Says "not idle" even with all slots free, as if its device were computing for another gateway. */
  readonly busy?: boolean;
  readonly ready?: boolean;
}

/** One worker's account. */
export class FakeWorker {
  readonly workerId: string;
  readonly slots: number;
  readonly maxBatch: number;
  readonly overdraft: number;
  busy: boolean;
  ready: boolean;
  inUse = 0;

  constructor(
    readonly model: string,
    { workerId = model, slots = 16, maxBatch = 8, overdraft = maxBatch, busy = false, ready = true }: FakeWorkerOptions,
  ) {
    this.overdraft = overdraft;
    this.workerId = workerId;
    this.slots = slots;
    this.maxBatch = maxBatch;
    this.busy = busy;
    this.ready = ready;
  }

  get free(): number {
    return Math.max(0, this.slots - this.inUse);
  }

  get urgent(): number {
    return Math.max(0, this.slots + this.overdraft - this.inUse);
  }
}

/**
 * WorkerPort in memory, with the pool's rules: least loaded first, a lease never exceeds what there is of its credit.
 */
export class FakeWorkers implements WorkerPort {
  readonly #workers = new Map<string, FakeWorker>();
  readonly #byModel = new Map<string, FakeWorker[]>();
  readonly #capacity = new Subject<string>();
  readonly capacity$: Observable<string> = this.#capacity.asObservable();
  /** Calls of `lease`, oldest first. */
  readonly leaseCalls: { readonly workerId: string; readonly count: number; readonly credit: SlotCredit }[] = [];

  /** A ready worker, idle until leased. */
  add(model: string, options: FakeWorkerOptions = {}): FakeWorker {
    const worker = new FakeWorker(model, options);
    this.#workers.set(worker.workerId, worker);
    this.#byModel.set(model, [...(this.#byModel.get(model) ?? []), worker]);
    return worker;
  }

  offer(model: string): SlotOffer | undefined {
    let best: FakeWorker | undefined;
    for (const worker of this.#byModel.get(model) ?? []) {
      const { ready, free, urgent } = worker;
      if (!ready || urgent === 0) continue;
      if (best === undefined || free > best.free || (free === best.free && urgent > best.urgent)) best = worker;
    }
    if (best === undefined) return undefined;
    const { workerId, free, urgent, maxBatch, inUse, busy } = best;
    return { workerId, free, urgent, maxBatch, idle: inUse === 0 && !busy };
  }

  lease(workerId: string, count: number, credit: SlotCredit): readonly Lease[] {
    const worker = this.#workers.get(workerId);
    if (worker === undefined || worker[credit] < count) throw new Error(`${workerId} has no ${count} slots ${credit}.`);
    this.leaseCalls.push({ workerId, count, credit });
    worker.inUse += count;
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
    worker.inUse -= 1;
    this.#capacity.next(worker.model);
  }
}
