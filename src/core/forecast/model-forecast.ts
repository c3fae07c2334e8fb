import { type BatchWindow } from '../batching/batch-window.js';
import { type EventOf } from '../dispatch/dispatch-event.js';
import { type ServiceTimes } from '../latency/service-times.js';
import { type PriorityQueue } from '../queue/priority-queue.js';
import { placeIn } from '../queue/queue-listing.js';
import { orderMsOf } from '../request/request-age.js';
import { DEFAULT_TENANT } from '../request/request-key.js';
import { perPriority, PRIORITY_LEVELS, RequestPriority } from '../request/request-priority.js';
import { type RequestRecord } from '../request/request-record.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { RecentArrivals } from './arrivals.js';
import { DecisionLog } from './decision-log.js';
import { ForecastRun } from './forecast-run.js';
import {
  type ProspectiveRequest,
  type WaitExplanation,
  type WaitForecast,
} from './forecast-view.js';
import { replicasWanted } from './replicas-wanted.js';
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

/**
 * A run is used again for so long per step that it took: about 1 % of the time
 * goes into runs.
 */
const REUSED_MS_PER_STEP = 5;

const REUSED_LEAST_MS = 50;

const CLEARLY_SOONER = 0.9;

const ONE_MORE = 'one more worker';

/** The last run that was made, or a new one. Undefined: no worker is ready, or none has answered yet. */
function reused(
  make: (nowMs: number) => ForecastRun | undefined,
  inFlight: () => number,
): typeof make {
  let run: ForecastRun | undefined;
  let staleAtMs = -Infinity;
  return nowMs => {
    const { slotsIfIdle = Infinity } = run ?? {};
    // A burst takes every slot within the time for which a run is used.
    const isFilled = slotsIfIdle < Infinity && inFlight() >= slotsIfIdle;
    // None could be made: a worker may be ready, or have answered, at any moment, and to
    // look costs nothing.
    if (run && nowMs < staleAtMs && !isFilled) return run;
    run = make(nowMs);
    staleAtMs = nowMs + Math.max(REUSED_LEAST_MS, (run?.steps ?? 0) * REUSED_MS_PER_STEP);
    return run;
  };
}

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
    },
  ) {}

  get service() {
    return this.deps.times.of(this.model).groups;
  }

  /** Its forecast is judged later; where nothing else waits, there is no error. */
  accepted(record: RequestRecord, nowMs: number): void {
    const { request } = record;
    this.arrivals[request.priority].came(request, nowMs);
    if (this.deps.queue.depth <= 1) return;
    const { realtime, batch } = this.deps.queue.depthOf(this.model);
    const raw = realtime + batch > 1 && this.ofNew(request, nowMs, request.costMs);
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
    const { atMs, status, phases, batchSize } = event;
    if (record?.workerId !== undefined) this.#lastDoneMs.set(record.workerId, atMs);
    if (status !== 'completed') return;
    const { request, forecast } = record ?? {};
    this.service.observe({ phases, batchSize, costMs: request?.costMs });
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
    const run = this.#asIs(nowMs);
    return run && this.#from(this.#lastStartMs(run, request, own, nowMs) - nowMs, request, nowMs);
  }

  /** Of a request that waits. @param position where it is known: to find it costs */
  ofWaiting(
    request: ScheduledRequest,
    nowMs: number,
    { run = this.#asIs(nowMs), position }: { run?: ForecastRun; position?: number } = {},
  ): RawForecast | undefined {
    if (run === undefined) return undefined;
    const startsAtMs =
      run.starts.get(request.key) ?? this.#startBeyond(run, request, nowMs, position);
    return this.#from(Math.max(0, startsAtMs - nowMs), request, nowMs);
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
    return replicasWanted({ waiting, running, load, devices });
  }

  slots(): WaitExplanation['slots'] {
    const total = this.deps.workers(this.model).reduce((sum, { slots }) => sum + slots, 0);
    return { inUse: this.#inFlight(), total };
  }

  /** What would let a waiting request start clearly sooner than its forecast says. */
  changes(
    request: ScheduledRequest,
    { startInMs }: WaitForecast,
    nowMs: number,
  ): WaitExplanation['changes'] {
    const urgent = { ...request, priority: RequestPriority.REALTIME };
    const changes = [
      ['realtime_priority', this.ofNew(urgent, nowMs), urgent.priority],
      [
        'one_more_worker',
        this.ofWaiting(request, nowMs, { run: this.#larger(nowMs) }),
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
      basis: 'simulation',
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

  #from(queuedMs: number, request: ProspectiveRequest, nowMs: number): RawForecast {
    const { costMs, priority } = request;
    const startMs = queuedMs + (this.deps.loadsInMs?.(this.model, priority, nowMs) ?? 0);
    return { startMs, endMs: startMs + this.service.callMs(costMs) };
  }
}
