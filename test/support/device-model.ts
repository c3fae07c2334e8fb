import { type BatchWindowOptions } from '../../src/core/batching/batch-window.js';
import { type Plan, aDispatcher } from './marble-yard.js';
import { type HeapItem, KeyedHeap } from '../../src/core/queue/keyed-heap.js';
import { FakeWorkers } from './fake-workers.js';
import { aRequest } from './requests.js';

/** Who asks: so many callers that each wait for their answer before asking again, or strangers at a rate. */
export type Arrivals = { readonly callers: number } | { readonly perMs: number };

export interface DeviceModelOptions {
  readonly window?: Partial<BatchWindowOptions>;
  readonly arrivals: Arrivals;
  /** Milliseconds one engine call takes, whatever its size (20). */
  readonly deviceMs?: number;
  /** Mean milliseconds of CPU preparation per group, +- 30 % (0). */
  readonly prepMs?: number;
  /** Milliseconds of virtual time (20000). */
  readonly forMs?: number;
}

export interface DeviceModelReport {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly meanGroup: number;
}

interface Event extends HeapItem {
  readonly run: () => void;
}

const GROUP = 8;
/** One way over the network, as in the reference model. */
const HOP_MS = 0.7;

/**
 * The batch window's reference model (a discrete-event simulation of gateway, wire and one device) with the real dispatcher in
 * the gateway's place: 16 credits, the device takes up to 8 READY requests when it becomes free (D-24). Deterministic.
 */
export class DeviceModel {
  readonly #options: Required<Omit<DeviceModelOptions, 'window'>>;
  readonly #workers = new FakeWorkers();
  readonly #dispatcher;
  readonly #events = new KeyedHeap<Event>();
  readonly #ready: Plan['members'][number][] = [];
  readonly #latencies: number[] = [];
  readonly #groups: number[] = [];
  #seed = 1;
  #nowMs = 0;
  #made = 0;
  #busy = false;

  constructor({ window, ...options }: DeviceModelOptions) {
    this.#options = { deviceMs: 20, prepMs: 0, forMs: 20_000, ...options };
    this.#workers.add('m', { slots: 2 * GROUP, maxBatch: GROUP });
    this.#dispatcher = aDispatcher(this.#workers, window).dispatcher;
  }

  run(): DeviceModelReport {
    const { arrivals, forMs } = this.#options;
    if ('perMs' in arrivals) this.#stranger(arrivals.perMs);
    else
      for (let caller = 0; caller < arrivals.callers; caller += 1)
        this.#after(this.#random() * 5, () => this.#arrive());
    while ((this.#events.topKey ?? Infinity) <= forMs) this.#step();
    return this.#report();
  }

  #step(): void {
    const event = this.#events.top;
    if (event === undefined) return;
    this.#nowMs = this.#events.topKey ?? this.#nowMs;
    this.#events.remove(event);
    event.run();
  }

  #report(): DeviceModelReport {
    const sorted = this.#latencies.sort((a, b) => a - b);
    const at = (fraction: number): number => sorted[Math.floor(sorted.length * fraction)] ?? NaN;
    const meanGroup = this.#groups.reduce((sum, size) => sum + size, 0) / this.#groups.length;
    return { perSecond: (sorted.length / this.#options.forMs) * 1000, p50Ms: at(0.5), p99Ms: at(0.99), meanGroup };
  }

  #arrive(): void {
    const id = `r${(this.#made += 1)}`;
    this.#dispatcher.submit(aRequest(id, { enqueuedAtMs: this.#nowMs }), this.#nowMs);
    this.#turn();
  }

  #stranger(perMs: number): void {
    this.#after(this.#exponential(1 / perMs), () => {
      this.#arrive();
      this.#stranger(perMs);
    });
  }

  #turn(): void {
    for (let plan = this.#dispatcher.next(this.#nowMs); plan; plan = this.#dispatcher.next(this.#nowMs))
      this.#send(plan);
    const wakeAtMs = this.#dispatcher.nextWakeMs(this.#nowMs);
    if (wakeAtMs !== undefined) this.#after(Math.max(wakeAtMs - this.#nowMs, 0), () => this.#turn());
  }

  #send({ members }: Plan): void {
    const { prepMs } = this.#options;
    this.#after(HOP_MS + prepMs * (0.7 + 0.6 * this.#random()), () => {
      this.#ready.push(...members);
      this.#compute();
    });
  }

  #compute(): void {
    if (this.#busy || this.#ready.length === 0) return;
    const group = this.#ready.splice(0, GROUP);
    this.#busy = true;
    this.#groups.push(group.length);
    this.#after(this.#options.deviceMs, () => {
      this.#busy = false;
      this.#compute();
      this.#after(HOP_MS, () => this.#answer(group));
    });
  }

  #answer(group: Plan['members']): void {
    for (const { request, lease } of group) {
      lease.release();
      this.#latencies.push(this.#nowMs - request.enqueuedAtMs);
      if ('callers' in this.#options.arrivals) this.#after(0.8 + this.#exponential(0.6), () => this.#arrive());
    }
    this.#turn();
  }

  #after(delayMs: number, run: () => void): void {
    this.#events.put({ heapIndex: -1, run }, this.#nowMs + delayMs);
  }

  #exponential(mean: number): number {
    return -Math.log(1 - this.#random()) * mean;
  }

  /** 0 to 1, the same sequence in every run. */
  #random(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }
}
