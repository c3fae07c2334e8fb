import { type DispatchEvent } from '../dispatch/dispatch-event.js';
import { costOf } from '../queue/request-place.js';
import { type RequestKey } from '../request/request-key.js';
import { priorityLevel, type RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { SlotMap } from '../shared/slot-map.js';
import { countAhead } from './decision-log.js';
import { type ForecastDeps, ModelForecast, type MadeForecast } from './model-forecast.js';
import { type WaitExplanation } from './wait-explanation.js';
import { type ForecastPort, type ProspectiveRequest, type WaitForecast } from './wait-forecast.js';

/** A request from its acceptance to its end. */
interface Followed {
  readonly model: ModelForecast;
  readonly priority: RequestPriority;
  readonly enqueuedAtMs: number;
  readonly costMs: number;
  /** When it came; absent: nothing was known, or its priority was changed since. */
  readonly forecast?: MadeForecast | undefined;
  leasedAtMs?: number | undefined;
}

type EventOf<T extends DispatchEvent['type']> = Extract<DispatchEvent, { type: T }>;

/**
 * Forecasts of one gateway's embedded queue: learns service times, arrivals and its own errors from the dispatch events
 * (D-23), and runs the queue forward when it is asked (D-27). Starts no timer and calls no worker.
 */
export class Forecaster implements ForecastPort {
  readonly #models = new Map<string, ModelForecast>();
  readonly #followed = new SlotMap<RequestKey, Followed>();

  constructor(private readonly deps: ForecastDeps) {}

  ofNew(request: ProspectiveRequest, nowMs: number): WaitForecast | undefined {
    const model = this.modelOf(request.model);
    const forecast = model.ofNew(request, nowMs);
    return forecast && model.corrected(forecast, request.priority);
  }

  of(key: RequestKey, nowMs: number): WaitForecast | undefined {
    const followed = this.#followed.get(key);
    if (followed === undefined) return undefined;
    const { model, leasedAtMs } = followed;
    if (leasedAtMs !== undefined) return model.ofRunning({ ...followed, leasedAtMs }, nowMs);
    const request = this.deps.queue.get(key);
    const forecast = request && model.ofWaiting(request, nowMs);
    return forecast && model.corrected(forecast, followed.priority);
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

  apply(event: DispatchEvent): void {
    if (event.type === 'accepted') this.#accepted(event);
    else if (event.type === 'leased') this.#leased(event);
    else if (event.type === 'requeued') this.#requeued(event);
    else if (event.type === 'reprioritized') this.#reprioritized(event);
    else if (event.type === 'settled') this.#settled(event);
  }

  modelOf(id: string): ModelForecast {
    let model = this.#models.get(id);
    if (model === undefined) this.#models.set(id, (model = new ModelForecast(id, this.deps)));
    return model;
  }

  *#ahead({ key, model }: ScheduledRequest, nowMs: number): Generator<ScheduledRequest> {
    for (const { item: request } of this.deps.queue.lanesOf(model).inOrder(nowMs)) {
      if (request.key === key) return;
      yield request;
    }
  }

  #accepted({ key, model: id, atMs }: EventOf<'accepted'>): void {
    const request = this.deps.queue.get(key);
    // It waits in a queue that is ordered elsewhere.
    if (request === undefined) return;
    const model = this.modelOf(id);
    const { priority, enqueuedAtMs } = request;
    const raw = model.ofNew(request, atMs, costOf(request));
    const forecast = raw && { ...raw, ...model.corrected(raw, priority) };
    this.#followed.set(key, { model, priority, enqueuedAtMs, costMs: costOf(request), forecast });
    model.arrivals[request.priority].came(request, atMs);
  }

  #leased(event: EventOf<'leased'>): void {
    const { key, workerId, atMs, attempt, queueWaitMs } = event;
    const followed = this.#followed.get(key);
    if (followed === undefined) return;
    const { model, priority, costMs, forecast } = followed;
    model.decisions.add(event);
    followed.leasedAtMs = atMs;
    model.inFlight.set(key, { workerId, priority, costMs, leasedAtMs: atMs });
    if (forecast !== undefined && attempt === 1) model.happened(forecast, priority, { waitMs: queueWaitMs });
  }

  #requeued({ key }: EventOf<'requeued'>): void {
    const followed = this.#followed.get(key);
    followed?.model.inFlight.delete(key);
    if (followed !== undefined) followed.leasedAtMs = undefined;
  }

  #reprioritized({ key, priority }: EventOf<'reprioritized'>): void {
    const followed = this.#followed.get(key);
    if (followed !== undefined)
      this.#followed.set(key, { ...followed, priority: priorityLevel(priority), forecast: undefined });
  }

  #settled({ key, model: id, atMs, status, phases, batchSize }: EventOf<'settled'>): void {
    const followed = this.#followed.get(key);
    if (status === 'completed') this.modelOf(id).service.observe({ phases, batchSize, costMs: followed?.costMs });
    if (followed === undefined) return;
    this.#followed.delete(key);
    const { model, priority, forecast } = followed;
    const { workerId } = model.inFlight.get(key) ?? {};
    model.inFlight.delete(key);
    if (workerId !== undefined) model.done(workerId, atMs);
    if (status === 'completed' && forecast !== undefined)
      model.happened(forecast, priority, { totalMs: phases.totalMs });
  }
}
