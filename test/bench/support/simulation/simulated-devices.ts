import { FairSwaps } from '../../../../src/core/devices/fair-swaps.js';
import { Placements } from '../../../../src/core/devices/placements.js';
import {
  type PlaceableModel,
  type SharedDevice,
  type SwapPolicy,
} from '../../../../src/core/devices/swap-policy.port.js';
import { waitingFor } from '../../../../src/core/devices/waiting.js';
import { type PriorityQueue } from '../../../../src/core/queue/priority-queue.js';
import { type SimulatedPool } from './simulated-pool.js';

export interface DeviceSetUp {
  readonly devices: readonly SharedDevice[];
  readonly models: readonly (PlaceableModel & {
    /** From the start of its processes until it takes requests. */
    readonly loadMs: number;
  })[];
  /** Absent: the policy of the product. */
  readonly policy?: SwapPolicy;
  /** From the last answer of a model that leaves until its processes have ended. */
  readonly endMs?: number;
}

interface Surroundings {
  readonly pool: SimulatedPool;
  readonly queue: PriorityQueue;
  nowMs(): number;
  at(atMs: number, run: () => void): void;
  /** A turn may find something to do. */
  wake(): void;
  /** What waits for it ends. */
  loadFailed(model: string): void;
}

/** Before a load that failed is tried again. */
const BACK_OFF_MS = 1000;

/** A model was told to leave. */
export interface Departure {
  readonly model: string;
  readonly atMs: number;
  /** Something waited for it or ran. */
  readonly inUse: boolean;
}

/**
 * Devices in virtual time: what is placed where is decided by the product's own `Placements`;
 * only loads and ends of processes are simulated.
 */
export class SimulatedDevices {
  readonly placements: Placements;
  readonly loads: { readonly model: string; readonly atMs: number }[] = [];
  readonly departures: Departure[] = [];
  /** Of all devices together, at any instant, as a share of what they have. */
  highestUse = 0;
  kills = 0;
  readonly #usedMs = new Map<string, number>();
  /** Number of the load that each model is in: an end of an earlier one says nothing. */
  readonly #epochs = new Map<string, number>();
  #wakeMs: number | undefined;
  readonly #leaving = new Set<string>();

  constructor(
    private readonly setUp: DeviceSetUp,
    private readonly around: Surroundings,
  ) {
    const { devices, models, policy = new FairSwaps() } = setUp;
    for (const { id } of models) around.pool.serves(id, false);
    this.placements = new Placements({
      ...{
        devices: () => devices,
        policy,
        models: () => models,
        demandOf: id => this.#demandOf(id),
      },
      loadMs: id => models.find(model => model.id === id)!.loadMs,
    });
  }

  /** Once before requests are sent, and once after. */
  look(): void {
    const { nowMs, at, wake, pool } = this.around;
    for (const { id } of this.setUp.models) if (this.#isInUse(id)) this.#usedMs.set(id, nowMs());
    for (const model of [...this.#leaving]) this.#endIfDone(model);
    for (const step of this.placements.decide(nowMs())) {
      const { model } = step;
      if (step.type === 'load') this.#load(model);
      else {
        this.departures.push({ model, atMs: nowMs(), inUse: this.#isInUse(model) });
        pool.serves(model, false);
        // Who starts anew does so no further.
        this.#nextEpoch(model);
        this.#leaving.add(model);
        this.#endIfDone(model);
      }
    }
    this.#checkUse();
    const wakeMs = this.placements.nextWakeMs(nowMs());
    if (wakeMs === undefined || wakeMs === this.#wakeMs) return;
    this.#wakeMs = wakeMs;
    at(wakeMs, wake);
  }

  /** Its processes end. A load has failed then; who is loaded starts anew in its place. */
  kill(model: string): void {
    const { nowMs, pool, wake, loadFailed } = this.around;
    const { stage } = this.placements.at(model) ?? {};
    if (stage === undefined) return;
    this.kills += 1;
    pool.serves(model, false);
    pool.kill(model);
    if (stage === 'resident') this.#start(model, () => pool.serves(model, true));
    if (stage === 'loading') {
      loadFailed(model);
      this.placements.dismiss(model, nowMs() + BACK_OFF_MS, nowMs());
      this.#leaving.add(model);
    }
    wake();
  }

  #load(model: string): void {
    const { nowMs, wake, pool, queue } = this.around;
    this.loads.push({ model, atMs: nowMs() });
    this.#start(model, () => {
      const tookMs = this.placements.loaded(model, nowMs());
      if (tookMs === undefined) return;
      queue.chargeLoad(model, tookMs);
      pool.serves(model, true);
      wake();
    });
  }

  /** @param onReady its processes take requests, and were not ended meanwhile */
  #start(model: string, onReady: () => void): void {
    const { at, nowMs } = this.around;
    const epoch = this.#nextEpoch(model);
    at(nowMs() + this.setUp.models.find(({ id }) => id === model)!.loadMs, () => {
      if (this.#epochs.get(model) === epoch) onReady();
    });
  }

  #nextEpoch(model: string): number {
    const epoch = (this.#epochs.get(model) ?? 0) + 1;
    this.#epochs.set(model, epoch);
    return epoch;
  }

  #endIfDone(model: string): void {
    const { at, nowMs, pool, wake } = this.around;
    if (pool.running(model) > 0) return;
    this.#leaving.delete(model);
    this.#nextEpoch(model);
    at(nowMs() + (this.setUp.endMs ?? 100), () => {
      this.placements.left(model);
      wake();
    });
  }

  #isInUse(model: string): boolean {
    return this.around.pool.running(model) + waitingFor(this.around.queue, model).waiting > 0;
  }

  #demandOf(model: string) {
    const running = this.around.pool.running(model);
    const usedMs = this.#usedMs.get(model) ?? -Infinity;
    return {
      ...waitingFor(this.around.queue, model),
      running,
      usedMs,
      serves: this.around.pool.isServed(model),
    };
  }

  #checkUse(): void {
    for (const { id, memory } of this.setUp.devices)
      this.highestUse = Math.max(this.highestUse, this.placements.used(id) / memory);
  }
}
