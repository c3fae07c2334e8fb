import { type BatchWindow } from '../batching/batch-window.js';
import { type DispatchPlan } from '../dispatch/dispatch-plan.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import { slotCredit } from '../dispatch/slot-credit.js';
import { PriorityQueue } from '../queue/priority-queue.js';
import { type RequestKey, requestKey } from '../request/request-key.js';
import { perPriority, PRIORITY_LEVELS, RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { type RecentArrivals } from './arrivals.js';
import { type VirtualWorkers } from './virtual-workers.js';

type ArrivalStream = ReturnType<RecentArrivals['stream']>;

/** How far a lane has come in virtual time (D-25) at an instant. */
interface Progress {
  readonly atMs: number;
  readonly tag: number;
}

/**
 * When a lane reaches which virtual time: a request starts when the lane reaches its
 * start tag. Filled by a run, then read for any number of requests.
 */
export class StartCurve {
  readonly #points: Progress[];
  #idleAtMs = Infinity;

  constructor(
    private readonly startMs: number,
    startTag: number,
  ) {
    this.#points = [{ atMs: startMs, tag: startTag }];
  }

  /** The lane was empty with a slot free: what comes later starts at once. */
  get isIdle(): boolean {
    return this.#idleAtMs < Infinity;
  }

  /** Whether the lane was empty from the beginning of the run. */
  get wasIdle(): boolean {
    return this.#idleAtMs === this.startMs;
  }

  /** Records that the lane reached the start tag `tag`; without effect once it was idle. */
  reached(atMs: number, tag: number): void {
    if (!this.isIdle && tag >= this.#last.tag) this.#points.push({ atMs, tag });
  }

  /** The lane is empty and a slot is free. */
  idle(atMs: number): void {
    this.#idleAtMs = Math.min(this.#idleAtMs, atMs);
  }

  /**
   * @param aheadMs virtual milliseconds between where the lane is at `nowMs` and the
   *   start tag of the request
   */
  startsAtMs(aheadMs: number, nowMs: number): number {
    const points = this.#points;
    const first = this.#first(({ atMs }) => atMs > nowMs);
    const wanted = (points[first - 1]?.tag ?? this.#last.tag) + aheadMs;
    const at = Math.max(
      first,
      this.#first(({ tag }) => tag >= wanted),
    );
    return Math.max(
      nowMs,
      points[at]?.atMs ?? (this.isIdle ? this.#idleAtMs : this.#beyond(wanted)),
    );
  }

  /** Past the end of the run, at its mean pace. */
  #beyond(tag: number): number {
    const [first, last] = [this.#points[0]!, this.#last];
    const pace = last.tag > first.tag ? (last.atMs - first.atMs) / (last.tag - first.tag) : 1;
    return last.atMs + (tag - last.tag) * pace;
  }

  get #last(): Progress {
    return this.#points.at(-1)!;
  }

  /** Index of the first point for which it holds, and for all after it. */
  #first(holds: (point: Progress) => boolean): number {
    let [low, high] = [0, this.#points.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(this.#points[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/**
 * Requests of the queue that a run follows at most; those behind them are extrapolated.
 */
const MOST_WAITING = 1000;

/** Most instants of a run: then it ends, although requests still wait. */
const MOST_STEPS = 5000;

/**
 * When all that waited has started, it goes on a little: for requests that come while the
 * run is used.
 */
const MORE_STEPS = 16;

const MORE_SHARE = 0.25;

/** A wake that is due now comes this much later, so that a run always moves. */
const TICK_MS = 1;

/**
 * The queue of one model run forward in virtual time by the real dispatcher: over its
 * waiting requests, those that are assumed to come, and workers that take as long as they
 * did lately (D-27).
 */
export class ForecastRun {
  readonly startedAtMs: number;
  /**
   * When the requests that wait at the beginning start. Absent: they expire, or are
   * behind the end of the run.
   */
  readonly starts = new Map<RequestKey, number>();
  readonly curves: Readonly<Record<RequestPriority, StartCurve>>;
  /** Workers, instants and requests it went through: what it cost. */
  steps: number;
  /** When the last of them starts. */
  lastStartMs: number;
  /**
   * Slots of its workers if a request that came when it began started at
   * once; Infinity otherwise.
   */
  readonly slotsIfIdle: number;
  readonly #queue: PriorityQueue;
  readonly #dispatcher: Dispatcher;
  readonly #waiting: Set<RequestKey>;
  #made = 0;

  constructor(
    private readonly from: {
      readonly model: string;
      readonly queue: PriorityQueue;
      readonly window: BatchWindow;
      readonly workers: VirtualWorkers;
      readonly arrivals: readonly ArrivalStream[];
      readonly nowMs: number;
    },
  ) {
    const { model, queue, window, workers, nowMs } = from;
    this.startedAtMs = this.lastStartMs = nowMs;
    this.steps = workers.count;
    const waiting = firstOf(queue, model, nowMs);
    this.#waiting = new Set(waiting.map(({ key }) => key));
    this.#queue = forkOf(queue, model, waiting);
    const lanes = this.#queue.lanesOf(model);
    this.curves = perPriority(priority => new StartCurve(nowMs, lanes.of(priority).virtualTime));
    this.#dispatcher = new Dispatcher({
      queue: this.#queue,
      window,
      workers,
      newGroupId: () => '',
    });
    this.#run();
    this.slotsIfIdle = this.curves[RequestPriority.BATCH].wasIdle ? workers.slots : Infinity;
  }

  #run(): void {
    let nowMs = this.startedAtMs;
    const mostSteps = this.steps + MOST_STEPS;
    let continueTo = this.steps + MORE_STEPS;
    while (nowMs < Infinity && this.steps < mostSteps) {
      this.#decide(nowMs);
      if (this.#waiting.size > 0)
        continueTo = this.steps + MORE_STEPS + this.starts.size * MORE_SHARE;
      else if (
        this.steps > continueTo ||
        PRIORITY_LEVELS.every(priority => this.curves[priority].isIdle)
      )
        return;
      nowMs = Math.max(nowMs, this.#nextMs(nowMs));
      this.from.workers.complete(nowMs);
      for (const arrivals of this.from.arrivals)
        while (arrivals.nextMs <= nowMs) this.#arrive(arrivals);
    }
  }

  #decide(nowMs: number): void {
    this.steps += 1;
    for (const { key } of this.#queue.expired(nowMs)) this.#waiting.delete(key);
    // REALTIME would have a free slot before BATCH has it.
    this.#noticeIdle(RequestPriority.REALTIME, nowMs);
    for (let plan = this.#dispatcher.next(nowMs); plan; plan = this.#dispatcher.next(nowMs))
      this.#sent(plan, nowMs);
    this.from.workers.start(nowMs);
    this.#noticeIdle(RequestPriority.BATCH, nowMs);
  }

  #noticeIdle(priority: RequestPriority, nowMs: number): void {
    const lane = this.#queue.lanesOf(this.from.model).of(priority);
    if (lane.size > 0 || this.curves[priority].isIdle) return;
    if (this.#canStart(priority, nowMs)) this.curves[priority].idle(nowMs);
  }

  #canStart(priority: RequestPriority, nowMs: number): boolean {
    const lane = this.#queue.lanesOf(this.from.model).of(priority);
    return this.from.workers.canTake(slotCredit(lane, this.#queue, nowMs));
  }

  #sent(plan: DispatchPlan, nowMs: number): void {
    this.steps += plan.members.length;
    for (const { request } of plan.members) {
      if (!this.#waiting.delete(request.key)) continue;
      this.starts.set(request.key, nowMs);
      this.lastStartMs = nowMs;
    }
    const [first] = plan.members;
    if (first !== undefined) {
      const { priority, model } = first.request;
      const { virtualTime } = this.#queue.lanesOf(model).of(priority);
      this.curves[priority].reached(nowMs, virtualTime);
    }
    this.from.workers.take(plan);
  }

  #nextMs(nowMs: number): number {
    const { workers, arrivals } = this.from;
    const wakeMs = Math.max(nowMs + TICK_MS, this.#dispatcher.nextWakeMs(nowMs) ?? Infinity);
    // While every slot is taken, those who come only wait.
    const taken = arrivals.filter(({ priority }) => this.#canStart(priority, nowMs));
    return Math.min(workers.nextDoneMs, wakeMs, ...taken.map(({ nextMs }) => nextMs));
  }

  #arrive(arrivals: ArrivalStream): void {
    const id = `expected ${(this.#made += 1)}`;
    const { nextMs: enqueuedAtMs, priority } = arrivals;
    this.#queue.enqueue({
      ...arrivals.take(),
      id,
      key: requestKey({ tenant: undefined, id }),
      model: this.from.model,
      priority,
      bytes: 0,
      enqueuedAtMs,
      queueDeadlineMs: Infinity,
      inferenceTimeoutMs: Infinity,
    });
  }
}

/** In the order in which they came. */
function firstOf(queue: PriorityQueue, model: string, nowMs: number): readonly ScheduledRequest[] {
  const first: ScheduledRequest[] = [];
  for (const request of queue.inOrder(model, nowMs))
    if (first.push(request) === MOST_WAITING) break;
  return first.sort((a, b) => a.enqueuedAtMs - b.enqueuedAtMs);
}

/** Another queue with these of its requests, and its accounts and turns as they are now. */
function forkOf(
  queue: PriorityQueue,
  model: string,
  waiting: readonly ScheduledRequest[],
): PriorityQueue {
  const fork = new PriorityQueue(queue.options);
  for (const request of waiting) fork.enqueue(request);
  fork.lanesOf(model).resume(queue.lanesOf(model));
  return fork;
}
