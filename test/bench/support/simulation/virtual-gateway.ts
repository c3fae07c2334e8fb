import { BatchWindow } from '../../../../src/core/batching/batch-window.js';
import { WindowTimers } from '../../../../src/core/batching/window-timers.js';
import { type DispatchEvent } from '../../../../src/core/dispatch/dispatch-event.js';
import { type DispatchPlan } from '../../../../src/core/dispatch/dispatch-plan.js';
import { Dispatcher } from '../../../../src/core/dispatch/dispatcher.js';
import { DomainError, type ErrorCode } from '../../../../src/core/errors/domain-error.js';
import { ServiceTimes } from '../../../../src/core/latency/service-times.js';
import { Admission } from '../../../../src/core/queue/admission.js';
import { withLatestStart } from '../../../../src/core/queue/latest-start.js';
import { PriorityQueue } from '../../../../src/core/queue/priority-queue.js';
import { leftMs } from '../../../../src/core/request/device-progress.js';
import { RequestPriority } from '../../../../src/core/request/request-priority.js';
import { RequestRecord } from '../../../../src/core/request/request-record.js';
import { type ScheduledRequest } from '../../../../src/core/request/scheduled-request.js';
import { type Settlement } from '../../../../src/core/request/settlement.js';
import { Forecasts } from '../../../../src/gateway/queue/forecasts.js';
import { leastLoaded } from '../../../../src/gateway/worker-pool/worker-choice.js';
import { aKey } from '../../../support/requests.js';
import { EventQueue } from '../event-queue.js';
import { type DeviceSetUp, SimulatedDevices } from './simulated-devices.js';
import { SimulatedPool } from './simulated-pool.js';
import { type DeviceCost, type EngineCall, type Work } from './simulated-worker.js';
import { SimulationLedger } from './simulation-ledger.js';
import { simulationRules, type SimulationRules } from './simulation-rules.js';
import { type TraceRequest } from './trace.js';
import { VirtualScheduler } from './virtual-scheduler.js';

export interface VirtualGatewayOptions {
  /** Model → its workers. */
  readonly workers: ReadonlyMap<string, number>;
  readonly cost: DeviceCost;
  /** What differs from the defaults of the product. */
  readonly rules?: Partial<SimulationRules>;
  /** False: the queue does not tell tenants apart (D-25), as before it had shares. */
  readonly shares?: boolean;
  /** True: the forecaster follows what happens. */
  readonly forecasts?: boolean;
  /**
   * True: a request with a deadline only leaves the queue when that has passed, as before
   * there was D-26.
   */
  readonly onlyDrops?: boolean;
  /** Memory that models share; absent: each has its workers from the beginning. */
  readonly devices?: DeviceSetUp;
}

/** A request on its way; `onEnd` tells the one who sent it. */
interface Traveller {
  readonly came: TraceRequest;
  readonly onEnd: (nowMs: number) => void;
  /** While a worker has it. */
  work?: Work;
  leasedAtMs?: number;
  /** Milliseconds that its answer should take, as its latest start assumes. */
  predictedMs?: number | undefined;
}

interface Journey extends ScheduledRequest {
  readonly payload: Traveller;
}

type OwnFields<E> = E extends DispatchEvent
  ? Omit<E, 'key' | 'requestId' | 'tenant' | 'keyId' | 'model' | 'priority' | 'atMs'>
  : never;
/** A request whose worker died is sent once more (D-06). */
const MOST_ATTEMPTS = 2;
type Life = RequestRecord<Journey, undefined>;
const COMPLETED: Settlement<undefined> = { status: 'completed', reply: undefined };
const cancelled = (): Settlement<undefined> => ended('request_cancelled', 'cancelled');
const expired = (): Settlement<undefined> => ended('queue_timeout', 'failed');
const overdue = (): Settlement<undefined> => ended('inference_timeout', 'failed');

function ended(code: ErrorCode, status: 'cancelled' | 'failed'): Settlement<undefined> {
  return { status, error: new DomainError(code, code) };
}

/**
 * A gateway in virtual time: the queue, the window, aging, admission, cancellation and
 * the dispatcher are the product's own (src/core); the loop around them is that of
 * `DispatchLoop`; only workers are simulated. Nothing here decides anything.
 */
export class VirtualGateway {
  readonly book = new SimulationLedger();
  readonly pool: SimulatedPool;
  readonly devices: SimulatedDevices | undefined;
  readonly #events = new EventQueue();
  readonly #clock = new VirtualScheduler(this.#events);
  readonly #timers = new WindowTimers(this.#clock, this.#clock);
  readonly #lives = new Map<string, Life>();
  readonly forecaster: Forecasts;
  readonly #dispatcher: Dispatcher;
  readonly #times = new ServiceTimes();
  readonly #rules: SimulationRules;
  readonly #shares: boolean;
  readonly #forecasts: boolean;
  readonly #onlyDrops: boolean;
  /** Requests that the inference limit ended. */
  timeouts = 0;
  #turnPending = false;
  #made = 0;

  constructor({
    workers,
    cost,
    rules,
    shares = true,
    forecasts = false,
    onlyDrops = false,
    devices,
  }: VirtualGatewayOptions) {
    this.#shares = shares;
    this.#forecasts = forecasts;
    this.#onlyDrops = onlyDrops;
    this.#rules = simulationRules(rules);
    this.pool = new SimulatedPool(this.#events, cost);
    for (const [model, count] of workers) this.pool.add(model, count);
    let groups = 0;
    const queue = new PriorityQueue(this.#rules);
    const window = new BatchWindow(this.#rules.window);
    const capacities = (model: string) => this.pool.capacities(model);
    const admission = new Admission(this.#rules.bounds, () => 0);
    this.forecaster = new Forecasts({
      ...{ queue, window, times: this.#times, workers: capacities, choose: leastLoaded, admission },
      nowMs: () => this.nowMs,
      loadsInMs: (model, priority, nowMs) =>
        this.devices?.placements.expected({
          ...{ model, nowMs, isRealtime: priority === RequestPriority.REALTIME },
          drainMs: id => this.forecaster.drainMs(id, nowMs),
        })?.inMs ?? 0,
      record: key => this.#lives.get(key),
      running: model =>
        [...this.#lives.values()].filter(
          life => life.request.model === model && life.state === 'leased',
        ),
    });
    this.#dispatcher = new Dispatcher({
      ...{ queue, window, admission },
      workers: this.pool,
      newGroupId: () => `group-${(groups += 1)}`,
    });
    this.devices =
      devices &&
      new SimulatedDevices(devices, {
        ...{ pool: this.pool, queue, nowMs: () => this.nowMs, wake: () => this.#wake() },
        at: (atMs, run) => this.at(atMs, run),
        loadFailed: model => {
          for (const [id, { state, request }] of this.#lives)
            if (state === 'queued' && request.model === model) this.#fail(id, 'model_load_failed');
        },
      });
    if (devices) this.at(0, () => this.#wake());
    this.pool.capacity$.subscribe(() => this.#wake());
    this.#timers.wakes$.subscribe(() => this.#wake());
  }

  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /** What has been accepted and has not ended. */
  get unsettled(): number {
    return this.#lives.size;
  }

  /** Slots that some request holds. */
  get slotsInUse(): number {
    return this.pool.workers.reduce((sum, { ledger }) => sum + ledger.inUse, 0);
  }

  /**
   * Replays a trace, as `replay` and further submissions in the order of their instants.
   */
  replay(trace: readonly TraceRequest[], at = 0): void {
    const next = trace[at];
    if (!next) return;
    this.at(next.atMs, () => {
      this.submit(next);
      this.replay(trace, at + 1);
    });
  }

  at(atMs: number, run: (nowMs: number) => void): void {
    this.#events.schedule(atMs, nowMs => {
      this.#clock.reached(nowMs);
      run(nowMs);
    });
  }

  /** Runs until nothing is left to happen, or to that instant. */
  run(untilMs = Infinity): void {
    this.#events.runUntil(untilMs);
  }

  /** @returns false when a bound refused it (429), or its deadline (503) */
  submit(came: TraceRequest, onEnd: (nowMs: number) => void = () => undefined): boolean {
    const { nowMs } = this;
    const id = `req_${(this.#made += 1)}`;
    const { request, refusal } = this.#timed({
      id,
      key: aKey(id),
      ...(this.#shares && { tenant: came.tenant }),
      ...{ model: came.model, bytes: 100_000, inferenceTimeoutMs: 30_000 },
      priority: came.priority === 'realtime' ? RequestPriority.REALTIME : RequestPriority.BATCH,
      ...{ enqueuedAtMs: nowMs, queueDeadlineMs: nowMs + this.#rules.queueTimeoutMs },
      costMs: came.estimatedMs ?? 1,
      payload: { came, onEnd },
    });
    const forecast = this.#forecasts ? this.forecaster.ofNew(request, nowMs) : undefined;
    const accepted = refusal === undefined && this.#dispatcher.submit(request, nowMs) === undefined;
    this.book.came(came, accepted, forecast);
    if (!accepted) return false;
    const life: Life = new RequestRecord(request);
    this.#lives.set(id, life);
    this.#emit(life, { type: 'accepted', bytes: request.bytes });
    if (came.cancelAfterMs !== undefined)
      this.at(nowMs + came.cancelAfterMs, () => this.#cancel(id));
    this.#wake();
    return true;
  }

  /** As `RequestQueues` does. */
  #timed(request: Journey): ReturnType<typeof withLatestStart<Journey>> {
    const { deadlineMs: withinMs } = request.payload.came;
    const { enqueuedAtMs: nowMs, model } = request;
    if (withinMs === undefined) return { request };
    if (this.#onlyDrops) return { request: { ...request, queueDeadlineMs: nowMs + withinMs } };
    const { answers } = this.#times.of(model);
    request.payload.predictedMs = answers.predictMs(request, nowMs);
    const isIdle = this.#dispatcher.isIdle(model);
    const estimate = answers.estimate(request, !isIdle, nowMs);
    const wanted = [{ until: 'answer', withinMs, leftMs: withinMs } as const];
    return withLatestStart(request, wanted, {
      ...estimate,
      startMs: timed => (isIdle ? 0 : (this.forecaster.ofNew(timed, nowMs)?.startInMs.p50 ?? 0)),
    });
  }

  /** As `setImmediate` does: any number of wakes at one instant are one turn. */
  #wake(): void {
    if (this.#turnPending) return;
    this.#turnPending = true;
    this.at(this.nowMs, () => {
      this.#turnPending = false;
      this.#turn();
    });
  }

  #turn(): void {
    const { nowMs } = this;
    for (const { id } of this.#dispatcher.queue.aged(nowMs))
      if (this.#lives.get(id)?.promote()) this.book.promotions += 1;
    for (const { id } of this.#dispatcher.queue.expired(nowMs)) this.#settle(id, expired());
    this.devices?.look();
    for (let plan = this.#dispatcher.next(nowMs); plan; plan = this.#dispatcher.next(nowMs))
      this.#send(plan);
    this.devices?.look();
    this.#timers.wakeAt(this.#dispatcher.nextWakeMs(nowMs));
  }

  #send({ workerId, members, groupId, reason }: DispatchPlan): void {
    const { nowMs } = this;
    const works = members.map(({ request, lease, aged }) => {
      const life = this.#lives.get(request.id);
      if (!life) throw new Error(`${request.id} was planned and is not here.`);
      life.leased(workerId, nowMs);
      const queueWaitMs = nowMs - request.enqueuedAtMs;
      const { payload } = life.request;
      this.book.leased(payload.came, queueWaitMs);
      payload.leasedAtMs = nowMs;
      const group = { groupId, groupSize: members.length, reason, batchWaitMs: 0 };
      this.#emit(life, { type: 'leased', workerId, ...group, attempt: 1, queueWaitMs });
      const work = this.#workOf(life, lease, aged);
      if (work.limitMs !== undefined) this.#limit(life, work, work.limitMs);
      return (payload.work = work);
    });
    this.pool.take(workerId, works, nowMs);
  }

  /** As `DeviceTimeout` does, with the worker's own account of what it computes. */
  #limit(life: Life, work: Work, afterMs: number): void {
    this.at(this.nowMs + afterMs, nowMs => {
      if (life.state === 'settled') return;
      const { startedAtMs, callLimitMs: limitMs = 0 } = work;
      const onDevice = startedAtMs !== undefined;
      const progress = { onDevice, deviceMs: nowMs - (startedAtMs ?? nowMs), limitMs };
      const left = leftMs(work.limitMs ?? Infinity, progress);
      if (left > 0) return this.#limit(life, work, left);
      this.timeouts += 1;
      work.cancelled = true;
      this.#settle(life.request.id, overdue());
    });
  }

  /** The slot comes back when the worker lets go, whoever settled the request before. */
  #workOf(life: Life, lease: { release(): void }, aged: boolean): Work {
    const { request } = life;
    const done = (nowMs: number, call?: EngineCall): void => {
      this.#clock.reached(nowMs);
      this.#learn(request);
      this.#settle(request.id, COMPLETED, call);
      lease.release();
    };
    const lost = (): void => {
      lease.release();
      if (life.state !== 'leased') return;
      life.requeued();
      if (life.attempts < MOST_ATTEMPTS) this.#dispatcher.queue.restore(request);
      else this.#settle(request.id, ended('worker_lost', 'failed'));
    };
    const share = aged ? { agingShare: this.#rules.agingShare } : {};
    const { costMs, limitMs } = request.payload.came;
    return { priority: request.priority, ...share, costMs, limitMs, cancelled: false, done, lost };
  }

  #learn(request: Journey): void {
    const { came, work, leasedAtMs = 0, predictedMs } = request.payload;
    if (came.costMs === undefined || work?.startedAtMs === undefined) return;
    this.#dispatcher.queue.measured(request, came.costMs);
    const [readyMs, computeMs] = [work.startedAtMs - leasedAtMs, this.nowMs - work.startedAtMs];
    const measured = { costMs: came.costMs, readyMs, computeMs, predictedMs };
    this.#times.of(request.model).answers.observe(measured, this.nowMs);
  }

  #fail(id: string, code: ErrorCode): void {
    this.#dispatcher.queue.remove(aKey(id));
    this.#settle(id, ended(code, 'failed'));
  }

  #cancel(id: string): void {
    const life = this.#lives.get(id);
    if (!life) return;
    const isQueued = life.state === 'queued';
    const withdrawn = isQueued ? this.#dispatcher.queue.remove(aKey(id)) : undefined;
    const { work } = life.request.payload;
    if (work) work.cancelled = true;
    if (isQueued && !withdrawn) throw new Error(`${id} should wait and does not.`);
    this.#settle(id, cancelled());
  }

  #settle(id: string, settlement: Settlement<undefined>, call?: EngineCall): void {
    const life = this.#lives.get(id);
    if (!life?.settle(settlement, this.nowMs)) return;
    const { came, onEnd } = life.request.payload;
    this.book.settled(came, settlement.status, this.nowMs);
    const { leasedAtMs = this.nowMs } = life.request.payload;
    const grpcMs = this.nowMs - leasedAtMs;
    const phases = {
      grpcMs,
      readyMs: grpcMs - (call?.tookMs ?? 0),
      totalMs: this.nowMs - life.request.enqueuedAtMs,
    };
    this.#emit(life, {
      type: 'settled',
      status: settlement.status,
      phases,
      batchSize: call?.size,
      attempts: 1,
    });
    this.#lives.delete(id);
    if (this.devices) this.#wake();
    onEnd(this.nowMs);
  }

  #emit({ request }: Life, fields: OwnFields<DispatchEvent>): void {
    if (!this.#forecasts) return;
    const { id: requestId, key, model, tenant, payload } = request;
    const { priority } = payload.came;
    const event = {
      ...fields,
      key,
      requestId,
      model,
      priority,
      atMs: this.nowMs,
      ...(tenant && { tenant }),
    } as DispatchEvent;
    this.forecaster.apply(event);
  }
}
