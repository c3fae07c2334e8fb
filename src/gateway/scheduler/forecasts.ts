import { Injectable } from '@nestjs/common';
import { BatchWindow } from '../../core/batching/batch-window.js';
import { isLive, keyOf, type RequestView } from '../../core/dispatch/request-view.js';
import { Forecaster } from '../../core/forecast/forecaster.js';
import { slotOverdraft } from '../../core/dispatch/worker-slots.js';
import { type WorkerCapacity } from '../../core/forecast/virtual-workers.js';
import {
  type ProspectiveRequest,
  type WaitForecast,
} from '../../core/forecast/wait-forecast.js';
import { type WaitExplanation } from '../../core/forecast/wait-explanation.js';
import { Admission } from '../../core/queue/admission.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { leastLoaded } from '../worker-pool/worker-choice.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { isReady, type WorkerView } from '../worker-pool/worker-view.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';

/** Of the time that a place in a shared queue takes at the recent rate. */
const DRAIN_P90 = 2;

/**
 * When requests probably start and end, and why they wait (D-27): the core's forecaster
 * beside the real workers.
 */
@Injectable()
export class Forecasts {
  readonly #forecaster: Forecaster;

  constructor(
    queue: PriorityQueue<WorkerTask>,
    window: BatchWindow,
    pool: WorkerPoolService,
    private readonly registry: RequestRegistry,
    private readonly admission: Admission,
    events: DispatchEventBus,
  ) {
    const workers = (model: string) =>
      (pool.model(model)?.workers ?? []).flatMap(worker => capacityOf(worker) ?? []);
    // Not of those that wait in the shared queue, or were taken from there.
    const record = (key: RequestKey) => {
      const found = registry.record(key);
      return found?.queue.isEmbedded ? found : undefined;
    };
    const running = (model: string) =>
      registry
        .live()
        .filter(
          one => one.model === model && one.state === 'leased' && one.queue.isEmbedded,
        );
    this.#forecaster = new Forecaster({
      queue,
      window,
      workers,
      choose: leastLoaded,
      record,
      running,
    });
    events.events$.subscribe(event => this.#forecaster.apply(event, record(event.key)));
  }

  ofNew(request: ProspectiveRequest, nowMs: number): WaitForecast | undefined {
    return this.#forecaster.ofNew(request, nowMs);
  }

  of(key: RequestKey): WaitForecast | undefined {
    return this.#forecaster.of(key, this.registry.nowMs());
  }

  /**
   * Also of a request in the queue that gateways share: by its place there and the rate
   * at which requests leave it.
   */
  ofView(view: RequestView): WaitForecast | undefined {
    return isLive(view) ? (this.of(keyOf(view)) ?? this.#byDrainRate(view)) : undefined;
  }

  /** Undefined: it is not in the queue of this gateway, and was not lately. */
  explain(view: RequestView): WaitExplanation | undefined {
    return this.#forecaster.explain(view.model, keyOf(view), this.registry.nowMs());
  }

  #byDrainRate({ model, position }: RequestView): WaitForecast | undefined {
    const startMs =
      position && this.admission.drainMs(model, position, this.registry.nowMs());
    const callMs = this.#forecaster.modelOf(model).service.callMs();
    if (startMs === undefined || !Number.isFinite(startMs + callMs)) return undefined;
    const spread = (ms: number) => ({ p50: ms, p90: DRAIN_P90 * ms });
    return {
      startInMs: spread(startMs),
      endInMs: spread(startMs + callMs),
      basis: 'drain_rate',
    };
  }
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
    overdraft: slotOverdraft(health),
    ...shape,
    parallel: maxConcurrent,
  };
}
