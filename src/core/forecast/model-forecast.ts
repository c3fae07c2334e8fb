import { type BatchWindow } from '../batching/batch-window.js';
import { type EventOf } from '../dispatch/dispatch-event.js';
import { type ServiceTimes } from '../latency/service-times.js';
import { type PriorityQueue } from '../queue/priority-queue.js';
import { placeBeside, placeIn, waitingUpTo } from '../queue/queue-places.js';
import { orderMsOf } from '../request/request-age.js';
import { DEFAULT_TENANT } from '../request/request-key.js';
import { perPriority, PRIORITY_LEVELS, RequestPriority } from '../request/request-priority.js';
import { type RequestRecord } from '../request/request-record.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { RecentArrivals } from './arrivals.js';
import { DecisionLog } from './decision-log.js';
import { ForecastRun } from './forecast-run.js';
import {
  type Elsewhere,
  type ProspectiveRequest,
  type WaitExplanation,
  type WaitForecast,
} from './forecast-view.js';
import { replicasByRate, replicasWanted } from './replicas-wanted.js';
import { reused } from './reused-run.js';
import { VirtualWorkers, type WorkerCapacity } from './virtual-workers.js';
import { WaitError } from './wait-error.js';

/**
 * Milliseconds of waiting, and until the answer, before they are corrected by
 * what was observed.
 */
interface RawForecast {
  readonly startMs: number;
  readonly endMs: number;
}

/** A request of which only its place in the order may be known. */
type Placed = Pick<ProspectiveRequest, 'priority'> & { readonly costMs?: number };

const CLEARLY_SOONER = 0.9;

const ONE_MORE = 'one more worker';

/** What is known of one model, and its last runs. */
export class ModelForecast {
  readonly arrivals = perPriority(() => new RecentArrivals());
  readonly #startError = perPriority(() => new WaitError());
  readonly #endError = perPriority(() => new WaitError());
  readonly decisions = new DecisionLog();
  readonly #lastDoneMs = new Map<string, number>();
  readonly #inFlight = () => this.deps.running(this.model).length;
  readonly #asIs = reused(
    nowMs => this.#runWith(this.deps.workers(this.model), nowMs),
    this.#inFlight,
  );
  readonly #larger = reused(nowMs => {
    const workers = this.deps.workers(this.model);
    return this.#runWith(
      [...workers, ...workers.slice(0, 1).map(worker => ({ ...worker, id: ONE_MORE }))],
      nowMs,
    );
  }, this.#inFlight);

  /** The last one that was seen: what one more would be. */
  #worker: WorkerCapacity | undefined;

  constructor(
    readonly model: string,
    private readonly deps: {
      readonly times: ServiceTimes;
      readonly queue: PriorityQueue;
      readonly window: BatchWindow;
      /** The ready workers of a model. */
      readonly workers: (model: string) => readonly WorkerCapacity[];
      readonly choose: ConstructorParameters<typeof VirtualWorkers>[2];
      /**
       * Milliseconds until the model takes requests, if it has to be loaded on its device
       * first. Absent: no model has a device.
       */
      readonly loadsInMs?: (model: string, priority: RequestPriority, nowMs: number) => number;
      /** Requests of the embedded queue that workers of a model have. */
      readonly running: (model: string) => readonly RequestRecord[];
      /** Undefined: nobody shares the order of the model. Absent: of none. */
      readonly elsewhere?: (model: string) => Elsewhere | undefined;
    },
  ) {}

  get service() {
    return this.deps.times.of(this.model).groups;
  }

  get #elsewhere(): Elsewhere | undefined {
    return this.deps.elsewhere?.(this.model);
  }

  /** At all gateways: of that class, and what goes before it. */
  #waitingUpTo(priority: RequestPriority): number {
    const own = waitingUpTo(priority, this.deps.queue.depthOf(this.model));
    return own + (this.#elsewhere ? waitingUpTo(priority, this.#elsewhere) : 0);
  }

  /** Its forecast is judged later; where nothing else waits, there is no error. */
  accepted(record: RequestRecord, nowMs: number): void {
    const { request } = record;
    this.arrivals[request.priority].came(request, nowMs);
    if (this.deps.queue.depth <= 1 && !this.#elsewhere) return;
    const isAlone = this.#waitingUpTo(RequestPriority.BATCH) <= 1;
    const raw = isAlone ? undefined : this.ofNew(request, nowMs, request.costMs);
    if (!raw) return;
    const { startInMs, endInMs } = this.corrected(raw, request.priority);
    record.expected({ ...raw, startP90Ms: startInMs.p90, endP90Ms: endInMs.p90 });
  }

  leased(event: EventOf<'leased'>, { request, forecast }: RequestRecord): void {
    this.decisions.add(event);
    if (forecast !== undefined && event.attempt === 1)
      this.#judge(forecast, request.priority, event.queueWaitMs, 0);
  }

  settled(event: EventOf<'settled'>, record: RequestRecord | undefined): void {
    const { atMs, status, phases, batchSize, deviceMs } = event;
    if (record?.workerId !== undefined) this.#lastDoneMs.set(record.workerId, atMs);
    if (status !== 'completed') return;
    const { request, forecast } = record ?? {};
    // The first requests were estimated before anything was known of the model.
    this.service.observe({ phases, batchSize, costMs: deviceMs ?? request?.costMs });
    if (request && forecast) this.#judge(forecast, request.priority, 0, phases.totalMs ?? 0);
  }

  /** @param waitMs 0: not judged; the same for `totalMs` */
  #judge(
    forecast: NonNullable<RequestRecord['forecast']>,
    priority: RequestPriority,
    waitMs: number,
    totalMs: number,
  ): void {
    this.#startError[priority].observe(forecast.startMs, forecast.startP90Ms, waitMs);
    this.#endError[priority].observe(forecast.endMs, forecast.endP90Ms, totalMs);
  }

  /** @param own cost of the request itself when it waits already */
  ofNew(request: ProspectiveRequest, nowMs: number, own = 0): RawForecast | undefined {
    const { priority } = request;
    if (this.#elsewhere)
      return this.byPlace(this.#waitingUpTo(priority) + (own > 0 ? 0 : 1), request, nowMs);
    const run = this.#asIs(nowMs);
    return run && this.#from(this.#lastStartMs(run, request, own, nowMs) - nowMs, request, nowMs);
  }

  /**
   * Of a request that waits. @param position where it is known: to find it costs
   * @param isLarger with one more worker
   */
  ofWaiting(
    request: ScheduledRequest,
    nowMs: number,
    { position, isLarger = false }: { position?: number | undefined; isLarger?: boolean } = {},
  ): RawForecast | undefined {
    if (this.#elsewhere) {
      const place = position ?? this.#placeOf(request, this.#elsewhere, nowMs);
      return this.byPlace(place, request, nowMs, isLarger);
    }
    const run = (isLarger ? this.#larger : this.#asIs)(nowMs);
    if (run === undefined) return undefined;
    const startsAtMs =
      run.starts.get(request.key) ?? this.#startBeyond(run, request, nowMs, position);
    return this.#from(Math.max(0, startsAtMs - nowMs), request, nowMs);
  }

  /**
   * By the place in the order of all gateways: all slots are taken for as long as a request
   * usually has one. Undefined: nobody shares the order, no worker is up, or none has answered.
   */
  byPlace(
    place: number,
    request: Placed,
    nowMs: number,
    isLarger = false,
  ): RawForecast | undefined {
    const queuedMs = this.#queuedMs(place, isLarger);
    return queuedMs === undefined ? undefined : this.#from(queuedMs, request, nowMs);
  }

  #queuedMs(place: number, isLarger = false): number | undefined {
    if (!this.#elsewhere || !this.service.known) return undefined;
    const { inUse, total } = this.slots();
    if (total === 0) return undefined;
    const more = isLarger ? this.deps.workers(this.model)[0]!.slots : 0;
    const all = Math.max(total, inUse) + more;
    return (Math.max(0, place - (all - inUse)) / all) * this.service.callMs();
  }

  #placeOf({ key, priority }: ScheduledRequest, elsewhere: Elsewhere, nowMs: number): number {
    const { queue } = this.deps;
    const { position = 1 } = placeIn(queue, key, nowMs) ?? {};
    return placeBeside(position, priority, queue.depthOf(this.model), elsewhere);
  }

  /**
   * Replicas with which all that waits keeps its deadlines, by `replicasWanted`. Undefined: no
   * worker was up yet, or none has answered.
   * @param targetMs longest wait of a request without a deadline
   */
  replicasWanted(nowMs: number, targetMs: number): number | undefined {
    const [worker = this.#worker] = this.deps.workers(this.model);
    this.#worker = worker;
    if (!worker || !this.service.known) return undefined;
    const { maxBatch, parallel: devices } = worker;
    // A device that is in demand computes whole groups.
    const workOf = (costMs: number): number =>
      this.service.groupMs(maxBatch, costMs * maxBatch) / maxBatch;
    const waiting = [...this.deps.queue.inOrder(this.model, nowMs)].map(request => {
      const { costMs, enqueuedAtMs, latestStartMs = enqueuedAtMs + targetMs } = request;
      const allowedMs = latestStartMs - enqueuedAtMs;
      return { workMs: workOf(costMs), startInMs: latestStartMs - nowMs, allowedMs };
    });
    const running = this.deps.running(this.model).map(({ request, leasedAtMs = nowMs }) => {
      const workMs = workOf(request.costMs);
      return Math.max(workMs / 2, workMs - (nowMs - leasedAtMs));
    });
    const loads = PRIORITY_LEVELS.map(level => this.arrivals[level].load(nowMs, workOf));
    const load = loads.reduce((sum, one) => sum + one, 0);
    const own = replicasWanted({ waiting, running, load, devices });
    return Math.max(own, this.#wantedByAll(targetMs));
  }

  /** The same of what waits at all gateways, of which only numbers are known; 0: nobody shares it. */
  #wantedByAll(targetMs: number): number {
    const drainMs = this.#queuedMs(this.#waitingUpTo(RequestPriority.BATCH));
    if (drainMs === undefined) return 0;
    const { inUse, total } = this.slots();
    const replicas = this.deps.workers(this.model).length;
    return replicasByRate({ replicas, busy: inUse / total, drainMs, targetMs });
  }

  slots(): NonNullable<WaitExplanation['slots']> {
    const total = this.deps.workers(this.model).reduce((sum, { slots }) => sum + slots, 0);
    return { inUse: this.#inFlight() + (this.#elsewhere?.running ?? 0), total };
  }

  /** What would let a waiting request start clearly sooner than its forecast says. */
  changes(
    request: ScheduledRequest,
    { startInMs }: WaitForecast,
    nowMs: number,
    position?: number,
  ): NonNullable<WaitExplanation['changes']> {
    const urgent = { ...request, priority: RequestPriority.REALTIME };
    const changes = [
      ['realtime_priority', this.ofNew(urgent, nowMs), urgent.priority],
      [
        'one_more_worker',
        this.ofWaiting(request, nowMs, { position, isLarger: true }),
        request.priority,
      ],
    ] as const;
    return changes.flatMap(([change, raw, priority]) => {
      const sooner = raw && this.corrected(raw, priority).startInMs;
      return sooner && sooner.p50 < CLEARLY_SOONER * startInMs.p50
        ? [{ change, startInMs: sooner }]
        : [];
    });
  }

  /** Of a request that a worker has. */
  ofRunning({ request, leasedAtMs }: RequestRecord, nowMs: number) {
    if (leasedAtMs === undefined || !this.service.known) return undefined;
    const { priority, enqueuedAtMs } = request;
    const total = this.#endError[priority].quantiles(
      leasedAtMs - enqueuedAtMs + this.service.callMs(request.costMs),
    );
    const left = (ms: number): number => Math.max(0, enqueuedAtMs + ms - nowMs);
    const endInMs = { p50: left(total.p50), p90: left(total.p90) };
    return { startInMs: { p50: 0, p90: 0 }, endInMs, basis: 'simulation' } as const;
  }

  corrected({ startMs, endMs }: RawForecast, priority: RequestPriority): WaitForecast {
    const [start, end] = [
      this.#startError[priority].quantiles(startMs),
      this.#endError[priority].quantiles(endMs),
    ];
    return {
      startInMs: start,
      endInMs: { p50: Math.max(end.p50, start.p50), p90: Math.max(end.p90, start.p90) },
      basis: this.#elsewhere ? 'drain_rate' : 'simulation',
    };
  }

  #runWith(capacities: readonly WorkerCapacity[], nowMs: number): ForecastRun | undefined {
    if (capacities.length === 0 || !this.service.known) return undefined;
    const { queue, window, choose } = this.deps;
    const workers = new VirtualWorkers(
      capacities,
      (size, costMs) => this.service.groupMs(size, costMs),
      choose,
    );
    const held = Map.groupBy(this.deps.running(this.model), ({ workerId = '' }) => workerId);
    for (const { id } of capacities) {
      const sent = (held.get(id) ?? []).sort((a, b) => (a.leasedAtMs ?? 0) - (b.leasedAtMs ?? 0));
      workers.resume(id, sent, this.#lastDoneMs.get(id) ?? -Infinity, nowMs);
    }
    const arrivals = PRIORITY_LEVELS.map(priority =>
      this.arrivals[priority].stream(priority, nowMs),
    );
    return new ForecastRun({
      model: this.model,
      queue,
      window,
      workers,
      arrivals,
      nowMs,
    });
  }

  /** When a request starts that is the last of its tenant. */
  #lastStartMs(run: ForecastRun, request: ProspectiveRequest, own: number, nowMs: number): number {
    const lane = this.deps.queue.lanesOf(this.model).of(request.priority);
    const { weightOf = () => 1 } = this.deps.queue.options;
    const orderMs = orderMsOf({ enqueuedAtMs: nowMs, ...request }, this.deps.queue.options.agingMs);
    const { tenant = DEFAULT_TENANT } = request;
    const startTag = lane.startTagOf(tenant, orderMs) - own / weightOf(tenant);
    const aheadMs = Math.max(0, startTag - lane.virtualTime);
    return run.curves[request.priority].startsAtMs(aheadMs, nowMs);
  }

  /**
   * Of a request that came after the run began, or that it did not follow: at the pace of
   * those that it did.
   */
  #startBeyond(
    run: ForecastRun,
    request: ScheduledRequest,
    nowMs: number,
    position = placeIn(this.deps.queue, request.key, nowMs)?.position ?? 1,
  ): number {
    if (request.enqueuedAtMs >= run.startedAtMs)
      return this.#lastStartMs(run, request, request.costMs, nowMs);
    return nowMs + (position * (run.lastStartMs - run.startedAtMs)) / Math.max(1, run.starts.size);
  }

  #from(queuedMs: number, { priority, costMs }: Placed, nowMs: number): RawForecast {
    const startMs = queuedMs + (this.deps.loadsInMs?.(this.model, priority, nowMs) ?? 0);
    return { startMs, endMs: startMs + this.service.callMs(costMs) };
  }
}
