import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Subject } from 'rxjs';
import { type ExpectedLoad } from '../../core/devices/expected-load.js';
import { FairSwaps } from '../../core/devices/fair-swaps.js';
import { Placements, type PlacementStep } from '../../core/devices/placements.js';
import { type Demand, type PlaceableModel } from '../../core/devices/swap-policy.port.js';
import { waitingFor } from '../../core/devices/waiting.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { ModelList } from '../../platform/config/config.module.js';
import { impossible, pinsByDevice, roomOf } from '../../platform/config/devices.js';
import { type DeviceSpec, type ModelSpec } from '../../platform/config/model-spec.js';
import { Settings } from '../../platform/config/settings.js';
import { peakBytes } from '../../platform/process/process-memory.js';
import { type ModelWorkers } from '../worker-pool/model-workers.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { DeviceHistory } from './device-history.js';
import { type DeviceShare } from './device-share.port.js';
import { MeasuredMemory } from './measured-memory.js';

/** A load is over: the model takes requests. */
export interface LoadedModel {
  readonly type: 'loaded';
  readonly model: string;
  readonly tookMs: number;
}

/** Of a model that was never loaded. */
const USUAL_LOAD_MS = 10_000;
/** Between two measurements of the memory of loaded models. */
const MEASURE_MS = 1000;

/**
 * Loads and unloads the models that share a device, as `core/devices` decides: looks whenever
 * requests or workers change, and at the instants that the rules name. Holds no timer while no
 * model has a device.
 */
@Injectable()
export class DeviceSwaps implements OnApplicationBootstrap {
  readonly #logger = new Logger('Devices');
  readonly placements: Placements;
  readonly history = new DeviceHistory();
  readonly #memory: MeasuredMemory;
  readonly #steps = new Subject<PlacementStep | LoadedModel>();
  /** Each load and departure when it begins, and each load when it is over. */
  readonly steps$ = this.#steps.asObservable();
  #pending: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #measureAtMs = 0;
  /** Whoever knows the other gateways sets it, before the first look. Undefined: there are none. */
  share: DeviceShare | undefined;
  #drainMs: (model: string) => number = () => 0;

  constructor(
    private readonly queue: PriorityQueue,
    private readonly pool: WorkerPoolService,
    private readonly times: ServiceTimes,
    private readonly list: ModelList,
    private readonly clock: ProcessClock,
    private readonly settings: Settings,
  ) {
    this.#memory = new MeasuredMemory(settings);
    this.placements = new Placements({
      devices: () => this.devices(),
      policy: new FairSwaps(),
      models: () => this.#placeable(),
      demandOf: id => this.#demandOf(id),
      loadMs: id => times.of(id).loads.value ?? USUAL_LOAD_MS,
    });
    pool.capacity$.subscribe(this.look);
    pool.activity$.subscribe(this.look);
  }

  onApplicationBootstrap(): void {
    this.list.changes$.subscribe(this.look);
    this.look();
  }

  /** Models that share a device. */
  placed(): readonly ModelSpec[] {
    return this.list.current.filter(({ device }) => device !== undefined);
  }

  /** Devices that some model names. */
  devices(): readonly DeviceSpec[] {
    const all = this.list.current.flatMap(({ device = [] }) => device);
    return [...new Map(all.map(device => [device.id, device])).values()];
  }

  /** The other gateway that loads models on the devices; undefined: this one does, or may. */
  get loadedBy(): string | undefined {
    return this.share?.role === 'leave' ? this.share.owner : undefined;
  }

  /** It shares a device and is not loaded there; where another gateway loads, that one knows. */
  isAway(model: string): boolean {
    return this.#isHere(model) && this.placements.at(model)?.stage !== 'resident';
  }

  /** @param drainMs milliseconds until what a model has is probably answered */
  forecastBy(drainMs: (model: string) => number): void {
    this.#drainMs = drainMs;
  }

  /** When a model probably takes requests. Undefined: it does, or shares no device. */
  expected(model: string, priority: RequestPriority): ExpectedLoad | undefined {
    if (!this.#isHere(model)) return undefined;
    return this.placements.expected({
      model,
      isRealtime: priority === RequestPriority.REALTIME,
      nowMs: this.clock.nowMs(),
      drainMs: this.#drainMs,
    });
  }

  /** Any number of calls until the next turn of the event loop are one. */
  readonly look = (): void => {
    if (this.placed().length > 0) this.#pending ??= setImmediate(this.#turn);
  };

  readonly #turn = (): void => {
    this.#pending = undefined;
    for (const id of this.placements.present) this.#follow(id);
    const nowMs = this.clock.nowMs();
    if (nowMs >= this.#measureAtMs) this.#measureAll(nowMs);
    for (const step of this.#decided(nowMs)) this.#do(step);
    this.history.look(this.placements, Date.now());
    clearTimeout(this.#timer);
    const wakeMs = this.placements.nextWakeMs(nowMs);
    // A timer that is early would find nothing to do, and ask again.
    if (wakeMs !== undefined) this.#timer = setTimeout(this.look, wakeMs - nowMs + 1).unref();
  };

  #decided(nowMs: number): readonly PlacementStep[] {
    const { role = 'load' } = this.share ?? {};
    if (role === 'load') {
      this.#refuseTooLarge(nowMs);
      return this.placements.decide(nowMs);
    }
    if (role === 'keep') return [];
    return this.placements.present.flatMap(id => this.placements.dismiss(id, nowMs, nowMs) ?? []);
  }

  /** What became of its workers since the last turn. */
  #follow(id: string): void {
    const { stage } = this.placements.at(id) ?? {};
    const workers = this.pool.of(id);
    if (stage === undefined) return;
    const nowMs = this.clock.nowMs();
    if (!workers?.isPlaced || workers.life === 'unloaded') return this.placements.left(id);
    if (workers.life === 'unloading') return void this.placements.dismiss(id, nowMs, nowMs);
    if (stage !== 'loading') return;
    if (workers.hasReady) return this.#loaded(workers, nowMs);
    const { loadProblem } = workers;
    if (loadProblem === undefined) return;
    void workers.unload(false);
    this.placements.dismiss(id, this.#refuse(workers, loadProblem, nowMs), nowMs);
  }

  /** Its requests, at all gateways. @returns until when */
  #refuse({ id, place }: ModelWorkers, reason: string, nowMs: number): number {
    const { restartMaxMs } = this.settings.workers;
    place.refuse(reason, nowMs + restartMaxMs);
    this.share?.refuse(id, reason, restartMaxMs);
    return nowMs + restartMaxMs;
  }

  #loaded(workers: ModelWorkers, nowMs: number): void {
    const { id } = workers;
    const sessions = workers.place.arrived();
    this.#measure(workers);
    const tookMs = this.placements.loaded(id, nowMs)!;
    this.times.of(id).loads.add(tookMs);
    this.queue.chargeLoad(id, tookMs, sessions);
    this.share?.chargeLoad(id, tookMs);
    this.#logger.log({ model: id, tookMs: Math.round(tookMs) }, 'model is loaded');
    this.#steps.next({ type: 'loaded', model: id, tookMs });
  }

  /** They grow while they work. */
  #measureAll(nowMs: number): void {
    this.#measureAtMs = nowMs + MEASURE_MS;
    for (const id of this.placements.present) {
      const workers = this.pool.of(id);
      if (workers && this.placements.at(id)?.stage === 'resident') this.#measure(workers);
    }
  }

  /**
   * The peak of its processes, where none is declared: when it was loaded, while it is used, and
   * before it leaves.
   */
  #measure({ id, roster }: ModelWorkers): void {
    if (this.list.find(id)?.memory !== undefined) return;
    const pids = roster.all.map(worker => worker.view().pid);
    const bytes = pids.reduce<number>((sum, pid) => sum + peakBytes(pid), 0);
    if (bytes === 0) return;
    try {
      this.#memory.measured(id, bytes);
    } catch (error) {
      this.#logger.warn({ model: id, err: error }, 'its memory cannot be remembered');
    }
    this.placements.measured(id, this.#memory.of(id) ?? bytes);
  }

  #do(step: PlacementStep): void {
    const { type, model } = step;
    const workers = this.pool.of(model);
    if (type === 'leave' && workers) this.#measure(workers);
    const device = this.devices().find(({ id }) => type === 'load' && id === step.device);
    this.#logger.log(step, type === 'load' ? 'loading model' : 'model leaves its device');
    if (device) workers?.loadOn(device);
    else void workers?.unload(workers.isHeld);
    this.#steps.next(step);
  }

  #isHere(model: string): boolean {
    return this.pool.of(model)?.isPlaced === true && this.loadedBy === undefined;
  }

  #placeable(): readonly PlaceableModel[] {
    const pins = pinsByDevice(this.placed());
    return this.placed().map(model => {
      const { id, device = [], pin, prewarm, minResidenceS } = model;
      const memory = this.#memoryOf(model);
      const room = (one: DeviceSpec) => roomOf(one, pins.get(one.id));
      const most = Math.max(...device.map(room));
      // Of unknown size it is loaded where it has most room, and alone.
      const mayBeOn = (one: DeviceSpec) =>
        pin ? pins.get(one.id)?.includes(model) : memory !== undefined || room(one) === most;
      // An operator unloaded it.
      if (this.pool.of(id)?.isHeld) return { id, devices: [], memory: memory ?? most };
      return {
        id,
        pin,
        prewarm,
        memory: memory ?? most,
        devices: device.filter(mayBeOn).map(({ id: name }) => name),
        minResidenceMs: minResidenceS === undefined ? undefined : minResidenceS * 1000,
      };
    });
  }

  /** Bytes, as declared or else as measured. */
  #memoryOf({ id, memory }: ModelSpec): number | undefined {
    return memory ?? this.#memory.of(id);
  }

  /** What was found to need more than its devices have would be waited for in vain. */
  #refuseTooLarge(nowMs: number): void {
    const models = this.placed().map(model => ({ ...model, memory: this.#memoryOf(model) }));
    for (const { model, problem } of impossible(models)) {
      const { id } = model;
      const workers = this.pool.of(id);
      const isAwaited = !this.placements.at(id) && this.#demandOf(id).waiting > 0;
      if (!workers || !isAwaited || workers.place.refusal !== undefined) continue;
      const reason = `its measured memory of ${problem.message}; declare \`memory\` if it needs less`;
      this.#refuse(workers, reason, nowMs);
    }
  }

  #demandOf(id: string): Demand {
    const workers = this.pool.of(id);
    const requestedMs = workers?.place.loadRequestedSinceMs ?? Infinity;
    // A session is REALTIME.
    const requested = { oldestMs: requestedMs, oldestRealtimeMs: requestedMs, dueMs: requestedMs };
    const shared = this.share?.demandOf(id);
    const all = [
      waitingFor(this.queue, id),
      { ...requested, waiting: requestedMs < Infinity ? 1 : 0 },
      ...(shared ? [shared] : []),
    ];
    const first = (field: keyof typeof requested): number =>
      Math.min(...all.map(one => one[field]));
    return {
      waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
      oldestMs: first('oldestMs'),
      oldestRealtimeMs: first('oldestRealtimeMs'),
      dueMs: first('dueMs'),
      running: (workers?.running ?? 0) + (shared?.running ?? 0),
      usedMs: workers?.usedAtMs ?? 0,
      serves: workers?.hasReady ?? false,
    };
  }
}
