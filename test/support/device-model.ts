import { type BatchWindow } from '../../src/core/batching/batch-window.js';
import { type HeapItem, KeyedHeap } from '../../src/core/order/keyed-heap.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { DevicePolicy } from '../../src/worker/execution/device-policy.js';
import { type Plan, aDispatcher } from './dispatcher-harness.js';
import { FakeWorkers } from './fake-workers.js';
import { aRequest } from './requests.js';

/**
 * Who asks: so many callers that each wait for their answer before asking again, or
 * independent ones at a rate.
 */
export type Arrivals =
  | { readonly callers: number; readonly start?: CallersStart }
  | { readonly perMs: number };

/**
 * Where the callers begin: within 5 ms, or in two halves, the second while the device
 * computes the first.
 */
export type CallersStart = 'together' | 'halves';

export interface DeviceModelOptions {
  readonly window?: Partial<ConstructorParameters<typeof BatchWindow>[0]>;
  readonly arrivals: Arrivals;
  /** Of all requests (BATCH). */
  readonly priority?: RequestPriority;
  /** Milliseconds one engine call takes, whatever its size (20). */
  readonly deviceMs?: number;
  /** Each engine call takes up to this share more or less (0). */
  readonly deviceJitter?: number;
  /**
   * Callers return one after another, each so many milliseconds after the one before: a
   * slow machine (0).
   */
  readonly callerMs?: number;
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
  /** The size of every engine call, in order. */
  readonly groups: readonly number[];
}

interface Event extends HeapItem {
  readonly run: () => void;
}

const GROUP = 8;
/** One way over the network, as in the reference model. */
const HOP_MS = 0.7;

/**
 * The batch window's reference model (a discrete-event simulation of gateway, wire and
 * one device) with the real dispatcher in the gateway's place and the real device policy
 * in the worker's: 16 credits, the device takes up to 8 READY requests when it becomes
 * free (D-24). Deterministic.
 */
export class DeviceModel {
  readonly #options: Required<Omit<DeviceModelOptions, 'window'>>;
  readonly #workers = new FakeWorkers();
  readonly #dispatcher;
  readonly #device = new DevicePolicy();
  readonly #events = new KeyedHeap<Event>();
  readonly #ready: Plan['members'][number][] = [];
  readonly #latencies: number[] = [];
  readonly #groups: number[] = [];
  #seed = 1;
  #nowMs = 0;
  #made = 0;
  #busy = false;

  constructor({ window, ...options }: DeviceModelOptions) {
    const costs = { deviceMs: 20, deviceJitter: 0, callerMs: 0, prepMs: 0 };
    this.#options = {
      priority: RequestPriority.BATCH,
      ...costs,
      forMs: 20_000,
      ...options,
    };
    this.#workers.add('m', { slots: 2 * GROUP, maxBatch: GROUP });
    this.#dispatcher = aDispatcher(this.#workers, window).dispatcher;
  }

  run(): DeviceModelReport {
    const { arrivals, forMs } = this.#options;
    if ('perMs' in arrivals) this.#independent(arrivals.perMs);
    else for (let caller = 0; caller < arrivals.callers; caller += 1) this.#begin(caller, arrivals);
    while ((this.#events.keys[0] ?? Infinity) <= forMs) this.#step();
    return this.#report();
  }

  #begin(
    caller: number,
    { callers, start }: { readonly callers: number; readonly start?: CallersStart },
  ): void {
    const late = start === 'halves' && caller >= callers / 2;
    // Half a device time after the first half was sent: 5 ms of arrivals, 5 ms
    // of quiet gap.
    this.#after(this.#random() * 5 + (late ? 10 + this.#options.deviceMs / 2 : 0), () =>
      this.#arrive(),
    );
  }

  #step(): void {
    const event = this.#events.items[0];
    if (event === undefined) return;
    this.#nowMs = this.#events.keys[0] ?? this.#nowMs;
    this.#events.remove(event);
    event.run();
  }

  #report(): DeviceModelReport {
    const sorted = this.#latencies.sort((a, b) => a - b);
    const at = (fraction: number): number => sorted[Math.floor(sorted.length * fraction)] ?? NaN;
    const meanGroup = this.#groups.reduce((sum, size) => sum + size, 0) / this.#groups.length;
    return {
      perSecond: (sorted.length / this.#options.forMs) * 1000,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      meanGroup,
      groups: this.#groups,
    };
  }

  #arrive(): void {
    const id = `r${(this.#made += 1)}`;
    const { priority } = this.#options;
    this.#dispatcher.submit(aRequest(id, { priority, enqueuedAtMs: this.#nowMs }), this.#nowMs);
    this.#turn();
  }

  #independent(perMs: number): void {
    this.#after(this.#exponential(1 / perMs), () => {
      this.#arrive();
      this.#independent(perMs);
    });
  }

  #turn(): void {
    for (
      let plan = this.#dispatcher.next(this.#nowMs);
      plan;
      plan = this.#dispatcher.next(this.#nowMs)
    )
      this.#send(plan);
    const wakeAtMs = this.#dispatcher.nextWakeMs(this.#nowMs);
    if (wakeAtMs !== undefined)
      this.#after(Math.max(wakeAtMs - this.#nowMs, 0), () => this.#turn());
  }

  #send({ members }: Plan): void {
    const { prepMs } = this.#options;
    this.#after(HOP_MS + prepMs * (0.7 + 0.6 * this.#random()), () => {
      this.#ready.push(...members);
      this.#pump();
    });
  }

  get #isRealtime(): boolean {
    return this.#options.priority === RequestPriority.REALTIME;
  }

  /** MicroBatcher's loop; groups are READY whole, so no member is missing. */
  #pump(): void {
    while (this.#ready.length > 0 && !this.#busy) {
      const group = { id: 'whole', size: this.#ready.length };
      const view = {
        ready: this.#ready.length,
        maxBatch: GROUP,
        running: 0,
        group,
        realtime: this.#isRealtime,
      };
      const untilMs = this.#device.waitsUntilMs(view, this.#nowMs);
      if (untilMs !== undefined) return this.#after(untilMs - this.#nowMs, () => this.#pump());
      this.#compute(this.#ready.splice(0, GROUP));
    }
    this.#device.over();
  }

  #compute(group: Plan['members']): void {
    this.#busy = true;
    this.#groups.push(group.length);
    const { deviceMs, deviceJitter } = this.#options;
    const elapsedMs =
      deviceMs * (deviceJitter === 0 ? 1 : 1 + deviceJitter * (2 * this.#random() - 1));
    this.#after(elapsedMs, () => {
      this.#busy = false;
      this.#device.ended(elapsedMs);
      this.#pump();
      this.#after(HOP_MS, () => this.#answer(group));
    });
  }

  #answer(group: Plan['members']): void {
    for (const [at, { request, lease }] of group.entries()) {
      const turnMs = at * this.#options.callerMs;
      lease.release();
      this.#latencies.push(this.#nowMs - request.enqueuedAtMs);
      if ('callers' in this.#options.arrivals)
        this.#after(turnMs + 0.8 + this.#exponential(0.6), () => this.#arrive());
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
