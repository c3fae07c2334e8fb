import { type Provider } from '@nestjs/common';
import { slotsOf } from '@switchyard/worker-protocol/worker-slots.js';
import { BatchWindow } from '../../core/batching/batch-window.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { isLive, keyOf, type RequestView } from '../../core/dispatch/request-view.js';
import { type AheadCounts, countAhead } from '../../core/forecast/decision-log.js';
import {
  type ProspectiveRequest,
  type WaitExplanation,
  type WaitForecast,
} from '../../core/forecast/forecast-view.js';
import { ModelForecast } from '../../core/forecast/model-forecast.js';
import { replicasByRate } from '../../core/forecast/replicas-wanted.js';
import { type WorkerCapacity } from '../../core/forecast/virtual-workers.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { Admission } from '../../core/queue/admission.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { priorityLevel } from '../../core/request/request-priority.js';
import { type RequestRecord } from '../../core/request/request-record.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { TextPlaces } from '../shared-queue/text-places.js';
import { leastLoaded } from '../worker-pool/worker-choice.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { isReady, type WorkerView } from '../worker-pool/worker-view.js';

/** Of the time that a place in a shared queue takes at the recent rate. */
const DRAIN_P90 = 2;

/**
 * When requests probably start and end, and why they wait (D-27): learns service times,
 * arrivals and its own errors from the dispatch events (D-23), and runs the embedded queue
 * forward when it is asked. Starts no timer and calls no worker.
 *
 * Undefined means unknown, never "now": no worker of the model is up, or none has
 * answered a request yet. A cached run answers in O(log waiting).
 */
export class Forecasts {
  readonly #models = new Map<string, ModelForecast>();

  constructor(
    private readonly deps: ConstructorParameters<typeof ModelForecast>[1] & {
      /** A request of the embedded queue, until its settlement has been emitted. */
      readonly record: (key: RequestKey) => RequestRecord | undefined;
      readonly admission: Admission;
      readonly nowMs: () => number;
    },
  ) {}

  /** Forecast of a request that is not queued yet. */
  ofNew(request: ProspectiveRequest, nowMs: number): WaitForecast | undefined {
    const model = this.#model(request.model);
    const forecast = model.ofNew(request, nowMs);
    return forecast && model.corrected(forecast, request.priority);
  }

  /** Of a request that waits or runs. Undefined also when it has ended. */
  of(key: RequestKey, nowMs = this.deps.nowMs(), position?: number): WaitForecast | undefined {
    const waiting = this.deps.queue.get(key);
    if (waiting === undefined) {
      const record = this.deps.record(key);
      return record?.state === 'leased'
        ? this.#model(record.request.model).ofRunning(record, nowMs)
        : undefined;
    }
    const model = this.#model(waiting.model);
    const forecast = model.ofWaiting(waiting, nowMs, { position });
    return forecast && model.corrected(forecast, waiting.priority);
  }

  /**
   * Also of a request that another gateway has, or that waits for workers that pull: by its place
   * and the rate at which requests leave.
   */
  ofView(view: RequestView): WaitForecast | undefined {
    if (!isLive(view)) return undefined;
    return this.of(keyOf(view), undefined, view.position) ?? this.#byDrainRate(view);
  }

  /**
   * Replicas of a model with which what waits keeps its deadlines, at all gateways that share its
   * order. Undefined: unknown, as no worker has answered.
   * @param targetMs longest wait of a request without a deadline
   */
  replicasWanted(model: string, targetMs: number): number | undefined {
    return this.#model(model).replicasWanted(this.deps.nowMs(), targetMs);
  }

  /** The same of what workers pull: by the rate at which requests leave that queue. */
  pullingWanted(
    { model, waiting }: { readonly model: string; readonly waiting: number },
    all: readonly WorkerView[],
    targetMs: number,
  ): number | undefined {
    const { admission, nowMs } = this.deps;
    const workers = all.filter(worker => worker.model === model && isReady(worker));
    const slots = workers.reduce((sum, worker) => sum + worker.slots.total, 0);
    if (slots === 0) return undefined;
    const inUse = workers.reduce((sum, worker) => sum + worker.slots.inUse, 0);
    const drainMs = admission.drainMs(model, waiting, nowMs()) ?? 0;
    return replicasByRate({ replicas: workers.length, busy: inUse / slots, drainMs, targetMs });
  }

  /**
   * Of a request that waits or runs, or that was sent lately. Undefined: it does not wait, and is
   * none of this gateway, or was not lately.
   * @param queued what waits for its model, at all gateways
   */
  explain(
    view: ListedRequest,
    queued: readonly ListedRequest[],
    nowMs = this.deps.nowMs(),
  ): WaitExplanation | undefined {
    const [model, key] = [this.#model(view.model), keyOf(view)];
    const request = this.deps.queue.get(key);
    const mine = request ?? model.decisions.of(key);
    const { position } = view;
    const ahead = position === undefined ? undefined : aheadOf(view, position, queued);
    if (mine === undefined) return ahead && { ahead };
    const forecast = this.of(key, nowMs, position);
    return {
      ahead,
      passed: countAhead(model.decisions.during(mine.enqueuedAtMs, key), mine),
      slots: model.slots(),
      changes: request && forecast ? model.changes(request, forecast, nowMs, position) : [],
    };
  }

  /** Milliseconds until what its workers have is probably answered; 0: nothing, or unknown. */
  drainMs(model: string, nowMs: number): number {
    const forecast = this.#model(model);
    const ends = this.deps
      .running(model)
      .map(record => forecast.ofRunning(record, nowMs)?.endInMs.p50 ?? 0);
    return Math.max(0, ...ends);
  }

  readonly apply = (event: DispatchEvent): void => {
    const model = this.#model(event.model);
    // Absent: its request waits in a queue that is ordered elsewhere.
    const record = this.deps.record(event.key);
    if (event.type === 'settled') model.settled(event, record);
    else if (record === undefined) return;
    else if (event.type === 'accepted') model.accepted(record, event.atMs);
    else if (event.type === 'leased') model.leased(event, record);
    // What was forecast of it with another priority shows no error.
    else if (event.type === 'reprioritized') record.expected(undefined);
  };

  #byDrainRate({ model, position, priority }: RequestView): WaitForecast | undefined {
    const { admission, nowMs } = this.deps;
    const forecast = this.#model(model);
    const level = priorityLevel(priority);
    const text = position && forecast.byPlace(position, { priority: level }, nowMs());
    if (text) return forecast.corrected(text, level);
    const startMs = position && admission.drainMs(model, position, nowMs());
    const callMs = forecast.service.callMs();
    if (startMs === undefined || !Number.isFinite(startMs + callMs)) return undefined;
    const spread = (ms: number) => ({ p50: ms, p90: DRAIN_P90 * ms });
    return {
      startInMs: spread(startMs),
      endInMs: spread(startMs + callMs),
      basis: 'drain_rate',
    };
  }

  #model(id: string): ModelForecast {
    let model = this.#models.get(id);
    if (model === undefined) this.#models.set(id, (model = new ModelForecast(id, this.deps)));
    return model;
  }
}

/** What an explanation has to know of a request. */
type ListedRequest = Pick<
  RequestView,
  'id' | 'tenant' | 'model' | 'priority' | 'position' | 'waitedMs'
>;

function aheadOf(view: ListedRequest, own: number, queued: readonly ListedRequest[]): AheadCounts {
  const before = queued.filter(({ position = Infinity }) => position < own);
  return countAhead(before.map(ordered), ordered(view));
}

/** By how long it has waited: clocks of gateways may differ. */
const ordered = ({ tenant, priority, waitedMs }: ListedRequest) => ({
  ...(tenant !== undefined && { tenant }),
  priority: priorityLevel(priority),
  enqueuedAtMs: -waitedMs,
});

/** `Forecasts` of the embedded queue and the real workers. */
export const forecastsProvider: Provider = {
  provide: Forecasts,
  inject: [
    ServiceTimes,
    PriorityQueue,
    BatchWindow,
    WorkerPoolService,
    RequestRegistry,
    Admission,
    DeviceSwaps,
    TextPlaces,
  ],
  useFactory: (
    times: ServiceTimes,
    queue: PriorityQueue,
    window: BatchWindow,
    pool: WorkerPoolService,
    registry: RequestRegistry,
    ...[admission, swaps, places]: readonly [Admission, DeviceSwaps, TextPlaces]
  ) => {
    const forecasts = new Forecasts({
      times,
      queue,
      window,
      admission,
      choose: leastLoaded,
      workers: capacities(pool, swaps),
      loadsInMs: (model, priority) => swaps.expected(model, priority)?.inMs ?? 0,
      // Not of those that wait in the shared queue, or were taken from there.
      record: key => {
        const found = registry.record(key);
        return found?.queue.isEmbedded ? found : undefined;
      },
      running: model =>
        registry
          .live()
          .filter(one => one.model === model && one.state === 'leased' && one.queue.isEmbedded),
      elsewhere: model => places.elsewhere(model),
      nowMs: () => registry.nowMs(),
    });
    swaps.forecastBy(model => forecasts.drainMs(model, registry.nowMs()));
    return forecasts;
  },
};

/** Of a model that is not on its device, the workers that it had and will have. */
function capacities(
  pool: WorkerPoolService,
  swaps: DeviceSwaps,
): (model: string) => readonly WorkerCapacity[] {
  const known = new Map<string, readonly WorkerCapacity[]>();
  const workersOf = (model: string): readonly WorkerCapacity[] => {
    const workers = pool.of(model);
    const ready = (workers?.view().workers ?? []).flatMap(worker => capacityOf(worker) ?? []);
    // Another gateway knows when it will.
    if (!workers?.isPlaced || swaps.loadedBy !== undefined) return ready;
    if (ready.length > 0) known.set(model, ready);
    return known.get(model) ?? [];
  };
  swaps.steps$.subscribe(({ type, model }) => type === 'loaded' && workersOf(model));
  return workersOf;
}

/** Undefined: it takes no requests now. */
function capacityOf(worker: WorkerView): WorkerCapacity | undefined {
  const { id, slots, health } = worker;
  if (!isReady(worker) || health === undefined || slots.total === 0) return undefined;
  const { maxBatch, maxConcurrent, kind } = health;
  // A generation is no group: each has a device of its own, and is slower beside others.
  const shape = kind === 'llm' ? { maxBatch: 1 } : { maxBatch };
  return {
    id,
    slots: slots.total,
    overdraft: slotsOf(health).overdraft,
    ...shape,
    parallel: maxConcurrent,
  };
}
