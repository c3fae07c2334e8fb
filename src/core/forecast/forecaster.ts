import { type DispatchEvent } from '../dispatch/dispatch-event.js';
import { costOf } from '../queue/request-place.js';
import { type RequestKey } from '../request/request-key.js';
import { type RequestRecord } from '../request/request-record.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { countAhead } from './decision-log.js';
import { type ForecastDeps, ModelForecast } from './model-forecast.js';
import { type WaitExplanation } from './wait-explanation.js';
import { type ProspectiveRequest, type WaitForecast } from './wait-forecast.js';

/**
 * Forecasts of one gateway's embedded queue: learns service times, arrivals and its own
 * errors from the dispatch events (D-23), and runs the queue forward when it is asked
 * (D-27). Starts no timer and calls no worker.
 *
 * Undefined means unknown, never "now": no worker of the model is up, or none has
 * answered a request yet. A cached run answers in O(log waiting).
 */
export class Forecaster {
  readonly #models = new Map<string, ModelForecast>();

  constructor(private readonly deps: ForecastDeps) {}

  /** Of a request that is not queued yet. */
  ofNew(request: ProspectiveRequest, nowMs: number): WaitForecast | undefined {
    const model = this.modelOf(request.model);
    const forecast = model.ofNew(request, nowMs);
    return forecast && model.corrected(forecast, request.priority);
  }

  /** Of a request that waits or runs. Undefined also when it has ended. */
  of(key: RequestKey, nowMs: number): WaitForecast | undefined {
    const waiting = this.deps.queue.get(key);
    if (waiting === undefined) return this.#ofRunning(this.deps.record(key), nowMs);
    const model = this.modelOf(waiting.model);
    const forecast = model.ofWaiting(waiting, nowMs);
    return forecast && model.corrected(forecast, waiting.priority);
  }

  /** Of a request of that model that waits or runs, or that was sent lately. */
  explain(modelId: string, key: RequestKey, nowMs: number): WaitExplanation | undefined {
    const model = this.modelOf(modelId);
    const request = this.deps.queue.get(key);
    const mine = request ?? model.decisions.of(key);
    if (mine === undefined) return undefined;
    const forecast = this.of(key, nowMs);
    return {
      forecast,
      ...(request && { ahead: countAhead(this.#ahead(request, nowMs), mine) }),
      passed: countAhead(model.decisions.during(mine.enqueuedAtMs, key), mine),
      slots: model.slots(),
      changes: request && forecast ? model.changes(request, forecast, nowMs) : [],
    };
  }

  /** @param record absent: its request waits in a queue that is ordered elsewhere */
  apply(event: DispatchEvent, record: RequestRecord | undefined): void {
    const model = this.modelOf(event.model);
    if (event.type === 'settled') model.settled(event, record);
    else if (record === undefined) return;
    else if (event.type === 'accepted') model.accepted(record, event.atMs);
    else if (event.type === 'leased') model.leased(event, record);
    // What was forecast of it with another priority shows no error.
    else if (event.type === 'reprioritized') record.forecast = undefined;
  }

  modelOf(id: string): ModelForecast {
    let model = this.#models.get(id);
    if (model === undefined)
      this.#models.set(id, (model = new ModelForecast(id, this.deps)));
    return model;
  }

  *#ahead({ key, model }: ScheduledRequest, nowMs: number): Generator<ScheduledRequest> {
    for (const { item: request } of this.deps.queue.lanesOf(model).inOrder(nowMs)) {
      if (request.key === key) return;
      yield request;
    }
  }

  #ofRunning(record: RequestRecord | undefined, nowMs: number): WaitForecast | undefined {
    if (record?.state !== 'leased' || record.leasedAtMs === undefined) return undefined;
    const { model, priority, enqueuedAtMs } = record.request;
    const running = {
      priority,
      enqueuedAtMs,
      costMs: costOf(record.request),
      leasedAtMs: record.leasedAtMs,
    };
    return this.modelOf(model).ofRunning(running, nowMs);
  }
}
