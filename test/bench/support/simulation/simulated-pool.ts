import { type Observable, Subject } from 'rxjs';
import { type Lease } from '../../../../src/core/dispatch/lease.js';
import {
  type SlotCredit,
  type SlotOffer,
  type WorkerPort,
} from '../../../../src/core/dispatch/worker.port.js';
import { type WorkerCapacity } from '../../../../src/core/forecast/virtual-workers.js';
import { leastLoaded } from '../../../../src/gateway/worker-pool/worker-choice.js';
import { type EventQueue } from '../event-queue.js';
import { type DeviceCost, SimulatedWorker, type Work } from './simulated-worker.js';

/** The workers of all models, chosen by the gateway's own rule (`leastLoaded`). */
export class SimulatedPool implements WorkerPort {
  readonly #byId = new Map<string, SimulatedWorker>();
  readonly #byModel = new Map<string, SimulatedWorker[]>();
  readonly #absent = new Set<string>();
  readonly #capacity = new Subject<string>();
  readonly capacity$: Observable<string> = this.#capacity.asObservable();

  constructor(
    private readonly events: EventQueue,
    private readonly cost: DeviceCost,
  ) {}

  /** Starts `count` ready workers of a model. */
  add(model: string, count: number): void {
    const workers = Array.from({ length: count }, (_, index) => this.#start(model, index));
    this.#byModel.set(model, [...(this.#byModel.get(model) ?? []), ...workers]);
    for (const worker of workers) this.#byId.set(worker.workerId, worker);
  }

  /** From now on nothing is offered of it, or something again. */
  serves(model: string, serves: boolean): void {
    if (serves) this.#absent.delete(model);
    else this.#absent.add(model);
    if (serves) this.#capacity.next(model);
  }

  isServed(model: string): boolean {
    return !this.#absent.has(model);
  }

  /** Its processes end at once. */
  kill(model: string): void {
    for (const worker of this.#byModel.get(model) ?? []) worker.kill();
  }

  /** Requests that its workers have. */
  running(model: string): number {
    return (this.#byModel.get(model) ?? []).reduce((sum, { ledger }) => sum + ledger.inUse, 0);
  }

  get workers(): readonly SimulatedWorker[] {
    return [...this.#byId.values()];
  }

  capacities(model: string): readonly WorkerCapacity[] {
    const { maxBatch } = this.cost;
    return (this.#byModel.get(model) ?? []).map(({ workerId: id, total }) => ({
      ...{ id, slots: total, overdraft: maxBatch, maxBatch, parallel: 1 },
    }));
  }

  offer(model: string): SlotOffer | undefined {
    const workers = this.#absent.has(model) ? [] : (this.#byModel.get(model) ?? []);
    return leastLoaded(workers.filter(({ urgent }) => urgent > 0));
  }

  lease(workerId: string, count: number, credit: SlotCredit): readonly Lease[] {
    return this.#worker(workerId).ledger.lease(count, credit);
  }

  take(workerId: string, works: readonly Work[], nowMs: number): void {
    this.#worker(workerId).take(works, nowMs);
  }

  #start(model: string, index: number): SimulatedWorker {
    return new SimulatedWorker(`${model}/${index}`, this.cost, this.events, () =>
      this.#capacity.next(model),
    );
  }

  #worker(id: string): SimulatedWorker {
    const worker = this.#byId.get(id);
    if (!worker) throw new Error(`No worker ${id}.`);
    return worker;
  }
}
