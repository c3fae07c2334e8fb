import { type Observable, Subject } from 'rxjs';
import { type Lease } from '../../src/core/dispatch/lease.js';
import { SlotLedger } from '../../src/core/dispatch/slot-ledger.js';
import {
  type SlotCredit,
  type SlotOffer,
  type WorkerPort,
} from '../../src/core/dispatch/worker.port.js';
import { type Placement } from '../../src/core/request/scheduled-request.js';

export interface FakeWorkerOptions {
  /** The model's name unless told. */
  readonly workerId?: string;
  /** Request credits (D-24); 16 unless told: one group of 8 on the device, one ahead. */
  readonly slots?: number;
  /** Largest group; 8 unless told. */
  readonly maxBatch?: number;
  /** What REALTIME may take beyond the slots; one group unless told. */
  readonly overdraft?: number;
  /**
   * Says "not idle" even with all slots free, as if its device were computing
   * for another gateway.
   */
  readonly busy?: boolean;
  readonly ready?: boolean;
}

/** One worker's account. */
export class FakeWorker {
  readonly workerId: string;
  readonly slots: number;
  readonly ledger: SlotLedger;
  readonly maxBatch: number;
  readonly overdraft: number;
  busy: boolean;
  ready: boolean;

  constructor(
    readonly model: string,
    {
      workerId = model,
      slots = 16,
      maxBatch = 8,
      overdraft = maxBatch,
      busy = false,
      ready = true,
    }: FakeWorkerOptions,
    onGrowth: () => void = () => undefined,
  ) {
    this.ledger = new SlotLedger(onGrowth);
    this.ledger.resize(slots, overdraft, maxBatch);
    this.overdraft = overdraft;
    this.workerId = workerId;
    this.slots = slots;
    this.maxBatch = maxBatch;
    this.busy = busy;
    this.ready = ready;
  }

  get inUse(): number {
    return this.ledger.inUse;
  }

  get free(): number {
    return this.ledger.free;
  }

  get urgent(): number {
    return this.ledger.urgent;
  }
}

/**
 * WorkerPort in memory, with the pool's rules: least loaded first, a lease never exceeds
 * what there is of its credit.
 */
export class FakeWorkers implements WorkerPort {
  readonly #workers = new Map<string, FakeWorker>();
  readonly #byModel = new Map<string, FakeWorker[]>();
  readonly #capacity = new Subject<string>();
  readonly capacity$: Observable<string> = this.#capacity.asObservable();
  /** Calls of `lease`, oldest first. */
  readonly leaseCalls: {
    readonly workerId: string;
    readonly count: number;
    readonly credit: SlotCredit;
  }[] = [];

  /** A ready worker, idle until leased. */
  add(model: string, options: FakeWorkerOptions = {}): FakeWorker {
    const worker = new FakeWorker(model, options, () => this.#capacity.next(model));
    this.#workers.set(worker.workerId, worker);
    this.#byModel.set(model, [...(this.#byModel.get(model) ?? []), worker]);
    return worker;
  }

  offer(model: string, { mostTogether }: Placement = {}): SlotOffer | undefined {
    let best: SlotOffer | undefined;
    for (const { ready, workerId, maxBatch, inUse, busy, ledger } of this.#byModel.get(model) ??
      []) {
      const credits = ledger.creditsFor(mostTogether);
      if (!ready || credits.urgent === 0) continue;
      const isMore =
        !best ||
        credits.free > best.free ||
        (credits.free === best.free && credits.urgent > best.urgent);
      if (isMore) best = { workerId, ...credits, maxBatch, idle: inUse === 0 && !busy };
    }
    return best;
  }

  lease(
    workerId: string,
    count: number,
    credit: SlotCredit,
    mostTogether?: number,
  ): readonly Lease[] {
    const worker = this.#workers.get(workerId);
    if (worker === undefined) throw new Error(`No worker ${workerId}.`);
    this.leaseCalls.push({ workerId, count, credit });
    return worker.ledger.lease(count, credit, mostTogether);
  }

  /** The worker became ready, or stopped being so; its leases stay as they are. */
  setReady(workerId: string, ready: boolean): void {
    const worker = this.#workers.get(workerId);
    if (worker === undefined) throw new Error(`No worker ${workerId}.`);
    worker.ready = ready;
    if (ready) this.#capacity.next(worker.model);
  }
}
