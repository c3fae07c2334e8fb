import { slotsOf } from '@switchyard/worker-protocol/worker-slots.js';
import { SlotLedger } from '../../../../src/core/dispatch/slot-ledger.js';
import { type WorkerOffer } from '../../../../src/core/dispatch/worker.port.js';
import { type RequestPriority } from '../../../../src/core/request/request-priority.js';
import { type PlacedWork, WorkQueue } from '../../../../src/worker/lifecycle/work-queue.js';
import { type EventQueue } from '../event-queue.js';

/** What a worker costs, milliseconds. */
export interface DeviceCost {
  /** Of an engine call, whatever its size. */
  readonly groupMs: number;
  /** Of each member of it. */
  readonly itemMs: number;
  /** Decoding and resampling before the device, per request. */
  readonly prepMs: number;
  /** One way between gateway and worker. */
  readonly hopMs: number;
  readonly maxBatch: number;
}

/** What computed a request. */
export interface EngineCall {
  readonly size: number;
  readonly tookMs: number;
}

/** Work that a worker was given. */
export interface Work {
  readonly priority: RequestPriority;
  /** Of aged BATCH, as the gateway sends it. */
  readonly agingShare?: number;
  /** Absent: what every request costs. */
  readonly costMs?: number;
  /** That the device may take for it alone; absent: unlimited. */
  readonly limitMs?: number | undefined;
  /** When its engine call began. */
  startedAtMs?: number;
  /** What that engine call may take: the limits of all its members. */
  callLimitMs?: number;
  /**
   * Told to stop: leaves at once while it waits for the device; an engine
   * call is finished.
   */
  cancelled: boolean;
  /** The worker lets go of it: computed, or given up. */
  readonly done: (nowMs: number, group?: EngineCall) => void;
  /** Its process was killed. */
  readonly lost: () => void;
}

interface ReadyWork extends PlacedWork {
  readonly work: Work;
}

/**
 * One worker process in virtual time: preparation in parallel, one device lane that takes
 * up to `maxBatch` READY items in the order of the worker's own `WorkQueue` (D-24). Its
 * slots are on the gateway's own `SlotLedger`. It is its own offer: read when asked, as
 * the dispatcher keeps none.
 */
export class SimulatedWorker implements WorkerOffer {
  readonly ledger: SlotLedger;
  readonly total: number;
  readonly maxBatch: number;
  readonly latencyMs = 0;
  readonly groupSizes: number[] = [];
  deviceBusyMs = 0;
  #ready = new WorkQueue<ReadyWork>();
  /** What it was given and has not let go of. */
  readonly #held = new Set<Work>();
  /** Its process: events of an earlier one mean nothing. */
  #life = 0;
  #received = 0;
  #deviceBusy = false;

  constructor(
    readonly workerId: string,
    private readonly cost: DeviceCost,
    private readonly events: EventQueue,
    onCapacity: () => void,
  ) {
    const size = { kind: 'stt', maxBatch: cost.maxBatch, maxConcurrent: 1 };
    this.ledger = new SlotLedger(onCapacity);
    const { credits, overdraft } = slotsOf(size);
    this.ledger.resize(credits, overdraft);
    this.total = this.ledger.total;
    this.maxBatch = cost.maxBatch;
  }

  get free(): number {
    return this.ledger.free;
  }

  get urgent(): number {
    return this.ledger.urgent;
  }

  get idle(): boolean {
    return this.ledger.inUse === 0;
  }

  /** A group as it was sent: its members are prepared at the same time. */
  take(works: readonly Work[], nowMs: number): void {
    for (const work of works) this.#held.add(work);
    const received = works.map(work => ({
      work,
      ...{
        priority: work.priority,
        agingShare: work.agingShare,
        sequence: (this.#received += 1),
      },
    }));
    this.#schedule(nowMs + this.cost.hopMs + this.cost.prepMs, now => {
      for (const entry of received) this.#ready.add(entry);
      this.#startDevice(now);
    });
  }

  /** Its process ends, and another one takes its place. */
  kill(): void {
    const lost = [...this.#held];
    this.#held.clear();
    this.#life += 1;
    this.#ready = new WorkQueue();
    this.#deviceBusy = false;
    for (const work of lost) work.lost();
  }

  #schedule(atMs: number, run: (nowMs: number) => void): void {
    const life = this.#life;
    this.events.schedule(atMs, nowMs => {
      if (this.#life === life) run(nowMs);
    });
  }

  #startDevice(nowMs: number): void {
    if (this.#deviceBusy) return;
    const group = this.#nextGroup(nowMs);
    if (group.length === 0) return;
    this.#deviceBusy = true;
    const { groupMs, itemMs } = this.cost;
    const tookMs = group.reduce((sum, { work: { costMs = itemMs } }) => sum + costMs, groupMs);
    const callLimitMs = group.reduce((sum, { work }) => sum + (work.limitMs ?? Infinity), 0);
    for (const { work } of group) Object.assign(work, { startedAtMs: nowMs, callLimitMs });
    this.deviceBusyMs += tookMs;
    this.groupSizes.push(group.length);
    this.#schedule(nowMs + tookMs, now => {
      this.#deviceBusy = false;
      this.#startDevice(now);
      this.#answer(group, now, { size: group.length, tookMs });
    });
  }

  #nextGroup(nowMs: number): readonly ReadyWork[] {
    for (
      let group = this.#ready.take(this.cost.maxBatch, 0);
      group.length > 0;
      group = this.#ready.take(this.cost.maxBatch, 0)
    ) {
      const leaving = group.filter(({ work }) => work.cancelled);
      if (leaving.length === 0) return group;
      this.#answer(leaving, nowMs);
      for (const staying of group) if (!staying.work.cancelled) this.#ready.add(staying);
    }
    return [];
  }

  #answer(works: readonly ReadyWork[], nowMs: number, call?: EngineCall): void {
    this.#schedule(nowMs + this.cost.hopMs, now => {
      for (const { work } of works) {
        this.#held.delete(work);
        work.done(now, call);
      }
    });
  }
}
