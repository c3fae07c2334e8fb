import { type DispatchPlan } from '../dispatch/dispatch-plan.js';
import { Lease } from '../dispatch/lease.js';
import { SlotLedger } from '../dispatch/slot-ledger.js';
import {
  type SlotCredit,
  type SlotOffer,
  type WorkerOffer,
  type WorkerPort,
} from '../dispatch/worker.port.js';
import { type HeapItem, KeyedHeap } from '../order/keyed-heap.js';
import { RequestPriority } from '../request/request-priority.js';
import { type RequestRecord } from '../request/request-record.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';

/** A ready worker of a model as it stands now. */
export interface WorkerCapacity {
  readonly id: string;
  /** Request credits, and what REALTIME may take besides (D-24). */
  readonly slots: number;
  readonly overdraft: number;
  /** Largest group of one engine call. */
  readonly maxBatch: number;
  /** Engine calls at the same time. */
  readonly parallel: number;
}

/** `leasedAtMs`: it was at the worker already when the run began. */
type Work = Pick<ScheduledRequest, 'priority' | 'costMs'> & {
  readonly leasedAtMs?: number | undefined;
};

/** One engine call at a time. */
interface Device extends HeapItem {
  readonly worker: VirtualWorker;
  group: readonly Work[];
}

/** The part of a group's time that it takes at least when it should be over. */
const OVERDUE = 0.1;
const HELD = new Lease(() => undefined);

/** Its own offer: read when asked, as the dispatcher keeps none. */
class VirtualWorker extends SlotLedger implements WorkerOffer {
  readonly workerId: string;
  readonly maxBatch: number;
  readonly latencyMs = 0;
  readonly devices: readonly Device[];
  readonly #urgent: Work[] = [];
  readonly #rest: Work[] = [];

  constructor({ id, slots, overdraft, maxBatch, parallel }: WorkerCapacity) {
    super();
    this.resize(slots, overdraft);
    this.workerId = id;
    this.maxBatch = maxBatch;
    this.devices = Array.from({ length: parallel }, () => ({
      heapIndex: -1,
      worker: this,
      group: [],
    }));
  }

  get idle(): boolean {
    return this.inUse === 0;
  }

  /** Takes slots. @param count how many; negative: they are free again */
  hold(count: number): void {
    this.inUse += count;
  }

  add(work: Work): void {
    (work.priority === RequestPriority.REALTIME ? this.#urgent : this.#rest).push(work);
  }

  nextGroup(): readonly Work[] {
    const { maxBatch } = this;
    const group = this.#urgent.splice(0, maxBatch);
    return group.length < maxBatch
      ? [...group, ...this.#rest.splice(0, maxBatch - group.length)]
      : group;
  }
}

/**
 * The workers of one model in virtual time: they compute what they have, and take what
 * the dispatcher sends.
 */
export class VirtualWorkers implements WorkerPort {
  readonly #workers: ReadonlyMap<string, VirtualWorker>;
  readonly #all: readonly VirtualWorker[];
  readonly #busy = new KeyedHeap<Device>();
  readonly #touched = new Set<VirtualWorker>();

  constructor(
    capacities: readonly WorkerCapacity[],
    private readonly groupMs: (size: number, costMs: number) => number,
    /** The gateway's own rule of which worker is next. */
    private readonly choose: (workers: readonly WorkerOffer[]) => SlotOffer | undefined,
  ) {
    this.#all = capacities.map(capacity => new VirtualWorker(capacity));
    this.#workers = new Map(this.#all.map(worker => [worker.workerId, worker]));
  }

  get count(): number {
    return this.#all.length;
  }

  /** Slots of all workers together, free or in use. */
  get slots(): number {
    return this.#all.reduce((sum, { total }) => sum + total, 0);
  }

  /** When the next engine call ends. */
  get nextDoneMs(): number {
    return this.#busy.keys[0] ?? Infinity;
  }

  /** True while a worker takes a request with that credit. */
  canTake(credit: SlotCredit): boolean {
    return this.#all.some(worker => worker[credit] > 0);
  }

  offer(): SlotOffer | undefined {
    return this.choose(this.#all.filter(({ urgent }) => urgent > 0));
  }

  lease(workerId: string, count: number): readonly Lease[] {
    this.#workers.get(workerId)!.hold(count);
    return new Array<Lease>(count).fill(HELD);
  }

  /**
   * What a worker has when the run begins, in the order in which it was sent. @param
   * lastDoneMs its last answer
   */
  resume(
    workerId: string,
    held: readonly RequestRecord[],
    lastDoneMs: number,
    nowMs: number,
  ): void {
    const worker = this.#workers.get(workerId)!;
    worker.hold(held.length);
    for (const { request, leasedAtMs } of held)
      worker.add({ priority: request.priority, costMs: request.costMs, leasedAtMs });
    // A single device took its group when it was done with the one before; of several,
    // each when it was sent.
    const idleSinceMs = worker.devices.length === 1 ? lastDoneMs : -Infinity;
    for (const device of worker.devices) this.#start(device, idleSinceMs, nowMs);
  }

  take({ workerId, members }: DispatchPlan): void {
    const worker = this.#workers.get(workerId)!;
    for (const { request } of members) worker.add(request);
    this.#touched.add(worker);
  }

  /**
   * Idle devices take what was sent to them. Call it when all of one instant
   * has been sent.
   */
  start(nowMs: number): void {
    for (const { devices } of this.#touched)
      for (const device of devices) if (device.group.length === 0) this.#start(device, nowMs);
    this.#touched.clear();
  }

  /** Ends the engine calls that are due. */
  complete(nowMs: number): void {
    for (
      let device = this.#busy.items[0];
      device && this.nextDoneMs <= nowMs;
      device = this.#busy.items[0]
    ) {
      this.#busy.remove(device);
      device.worker.hold(-device.group.length);
      device.group = [];
      this.#start(device, nowMs);
    }
  }

  #start(device: Device, idleSinceMs: number, nowMs = idleSinceMs): void {
    const group = device.worker.nextGroup();
    const [first] = group;
    if (first === undefined) return;
    const costMs = group.reduce((sum, work) => sum + work.costMs, 0);
    const tookMs = this.groupMs(group.length, costMs);
    const doneMs = Math.max(idleSinceMs, first.leasedAtMs ?? nowMs) + tookMs;
    device.group = group;
    this.#busy.put(device, doneMs > nowMs ? doneMs : nowMs + OVERDUE * tookMs);
  }
}
