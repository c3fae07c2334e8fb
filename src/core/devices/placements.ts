import { type ExpectedLoad, expectedLoad, leaversOf } from './expected-load.js';
import {
  type Demand,
  isIdle,
  memoryOf,
  type ModelAtDevice,
  type PlaceableModel,
  type SharedDevice,
  type Stage,
  stays,
  type Swap,
  type SwapPolicy,
} from './swap-policy.port.js';

/** To be done now; its end is reported by `loaded`, `left` or `dismiss`. */
export type PlacementStep =
  | {
      readonly type: 'load';
      readonly model: string;
      readonly device: string;
      readonly reason: Swap['reason'];
    }
  /** `for`: the model that needs its memory; absent: nobody waits for its load any more. */
  | { readonly type: 'leave'; readonly model: string; readonly for?: string };

interface Place {
  stage: Exclude<Stage, 'absent'>;
  readonly device: string;
  /** Bytes. More than was declared may exceed the device until others leave. */
  memory: number;
  sinceMs: number;
}

/**
 * Whether nobody waits any more for a model that is being loaded, so that its load is broken
 * off.
 */
const isUnwanted = (model: ModelAtDevice): boolean =>
  model.stage === 'loading' && isIdle(model) && !model.pin && !model.prewarm;

/**
 * Which models are on which devices: takes facts, decides by the policy. What is loaded, loading
 * or leaving counts against its device, from before its processes start until they have ended.
 * Calls nothing and reads no clock: its owner does the steps and reports what became of them.
 */
export class Placements {
  readonly #places = new Map<string, Place>();
  /** Model → monotonic milliseconds until which it must not be loaded. */
  readonly #dismissed = new Map<string, number>();
  /** As of the last decision, most urgent first. Only `decide` writes it. */
  swaps: readonly Swap[] = [];

  constructor(
    private readonly from: {
      readonly devices: () => readonly SharedDevice[];
      readonly policy: SwapPolicy;
      /** The models that have a device, as they are configured now. */
      readonly models: () => readonly PlaceableModel[];
      readonly demandOf: (model: string) => Demand;
      /** Milliseconds that a load of it probably takes. */
      readonly loadMs: (model: string) => number;
    },
  ) {}

  /** Models that are on a device. */
  get present(): readonly string[] {
    return [...this.#places.keys()];
  }

  /** Device and stage of a model; undefined: it is on no device. */
  at(model: string): Readonly<Place> | undefined {
    return this.#places.get(model);
  }

  /** Bytes of a device that are loaded, loading or leaving. */
  used(device: string): number {
    return memoryOf([...this.#places.values()].filter(place => place.device === device));
  }

  models(): readonly ModelAtDevice[] {
    return this.from.models().map(model => {
      const { stage = 'absent', device, sinceMs = 0 } = this.#places.get(model.id) ?? {};
      const demand = this.from.demandOf(model.id);
      return { ...model, stage, device, sinceMs, demand, loadMs: this.from.loadMs(model.id) };
    });
  }

  /** The most urgent load of a device that has not begun, with all that leave before it. */
  nextOn(device: string): Swap | undefined {
    const next = this.swaps.find(swap => swap.device === device && !this.#places.has(swap.model));
    return next && { ...next, leaving: leaversOf(next, this.models()).map(({ id }) => id) };
  }

  /** When a model probably takes requests (`expectedLoad`). */
  expected(question: Parameters<typeof expectedLoad>[1]): ExpectedLoad | undefined {
    const { policy, devices } = this.from;
    return expectedLoad({ models: this.models(), devices: devices(), policy }, question);
  }

  /** What is to be done now. The steps count as begun. */
  decide(nowMs: number): readonly PlacementStep[] {
    const steps: PlacementStep[] = [];
    let models = this.models();
    const unwanted = models.filter(isUnwanted);
    for (const { id } of unwanted) steps.push(this.#leave(id, undefined, nowMs));
    if (unwanted.length > 0) models = this.models();
    const open = models.filter(
      ({ id, stage }) => stage !== 'absent' || (this.#dismissed.get(id) ?? nowMs) <= nowMs,
    );
    this.swaps = this.from.policy.plan(open, this.from.devices(), nowMs);
    for (const swap of this.swaps)
      if (swap.atMs <= nowMs) steps.push(...this.#begin(swap, models, nowMs));
    return steps;
  }

  /** The next instant at which `decide` may say something without any other event. */
  nextWakeMs(nowMs: number): number | undefined {
    const instants = [...this.swaps.map(({ atMs }) => atMs), ...this.#dismissed.values()];
    const next = Math.min(...instants.filter(atMs => atMs > nowMs));
    return next === Infinity ? undefined : next;
  }

  /** It takes requests. @returns milliseconds that its load took; undefined: it was not loading */
  loaded(model: string, nowMs: number): number | undefined {
    const place = this.#places.get(model);
    if (place?.stage !== 'loading') return undefined;
    const tookMs = nowMs - place.sinceMs;
    Object.assign(place, { stage: 'resident', sinceMs: nowMs });
    this.#dismissed.delete(model);
    return tookMs;
  }

  /**
   * It leaves, if it is there, and is not loaded again until then: its load failed, it was idle
   * for long, or an operator unloads it. @returns undefined: it is not there, or leaves already
   */
  dismiss(model: string, untilMs: number, nowMs: number): PlacementStep | undefined {
    this.#dismissed.set(model, untilMs);
    const { stage } = this.#places.get(model) ?? {};
    const isThere = stage === 'loading' || stage === 'resident';
    return isThere ? this.#leave(model, undefined, nowMs) : undefined;
  }

  /** Its processes have ended: its memory is free. */
  left(model: string): void {
    this.#places.delete(model);
  }

  /** What its processes were found to use. Bytes. */
  measured(model: string, bytes: number): void {
    const place = this.#places.get(model);
    if (place) place.memory = bytes;
  }

  *#begin(swap: Swap, models: readonly ModelAtDevice[], nowMs: number): Generator<PlacementStep> {
    const { model: id, device, leaving, reason } = swap;
    const { memory } = models.find(model => model.id === id)!;
    const present = models.filter(model => leaving.includes(model.id) && stays(model));
    if (present.length === 0 && this.#fits(device, memory)) {
      this.#places.set(id, { stage: 'loading', device, memory, sinceMs: nowMs });
      yield { type: 'load', model: id, device, reason };
      return;
    }
    for (const model of present) yield this.#leave(model.id, id, nowMs);
  }

  #fits(device: string, bytes: number): boolean {
    const { memory = 0 } = this.from.devices().find(({ id }) => id === device) ?? {};
    return this.used(device) + bytes <= memory;
  }

  #leave(model: string, forModel: string | undefined, nowMs: number): PlacementStep {
    Object.assign(this.#places.get(model)!, { stage: 'leaving', sinceMs: nowMs });
    return { type: 'leave', model, ...(forModel !== undefined && { for: forModel }) };
  }
}
