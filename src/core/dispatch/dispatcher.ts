import { type DomainError } from '../errors/domain-error.js';
import { type Lease } from './lease.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { type BatchWindow, type WindowDecision } from '../batching/batch-window.js';
import { type Admission } from '../queue/admission.js';
import { CostModel } from '../queue/cost-model.js';
import { agesAtMs, isAged } from '../request/aging-policy.js';
import { type ModelLane } from '../queue/model-lane.js';
import { type PriorityQueue } from '../queue/priority-queue.js';
import {
  type DispatchPlan,
  type PlannedRequest,
  type WindowReason,
} from './dispatch-plan.js';
import { slotCredit } from './slot-credit.js';
import { type SlotCredit, type SlotOffer, type WorkerPort } from './worker.port.js';

interface DispatcherDeps {
  readonly queue: PriorityQueue;
  readonly window: BatchWindow;
  readonly admission: Admission;
  readonly workers: WorkerPort;
  readonly newGroupId: () => string;
  /**
   * When a request would start if it were queued, in milliseconds
   * (D-27); undefined: unknown.
   */
  readonly startInMs?: (request: ScheduledRequest, nowMs: number) => number | undefined;
}

/** The group that may leave a lane now. */
interface Group {
  readonly count: number;
  readonly reason: WindowReason;
}

const SINGLE: Group = { count: 1, reason: 'single' };

/** A worker with free credit, and the kind of credit that the lane may use. */
interface Slots {
  readonly offer: SlotOffer;
  readonly credit: SlotCredit;
  readonly nowMs: number;
}

/**
 * Free slot → lane → group → plan: the only place that decides the order (D-01, D-02,
 * D-03, D-23). It decides and leases. It calls no worker, arms no timer and reads no
 * clock; its caller runs the plans and reports the outcomes.
 */
export class Dispatcher {
  readonly queue: PriorityQueue;
  /** Device milliseconds of requests, for `ScheduledRequest.costMs`. */
  readonly costs = new CostModel();
  /**
   * Models in which a suspect has the next turn and waits for a worker of its own:
   * nothing is sent ahead of it.
   */
  readonly #held = new Set<string>();
  #draining = false;

  constructor(private readonly deps: DispatcherDeps) {
    this.queue = deps.queue;
  }

  /**
   * Queues the request. Throws `duplicate_request_id`.
   * @returns `queue_full` with `retryAfterMs` when a bound rejects it (D-08)
   */
  submit(request: ScheduledRequest, nowMs: number): DomainError | undefined {
    const { queue, admission } = this.deps;
    const refusal = admission.check(queue, request);
    if (refusal === undefined) return void queue.enqueue(request);
    const startInMs = this.startInMs(request, nowMs);
    return admission.queueFull(refusal, request.model, nowMs, startInMs);
  }

  /**
   * The next group to send, with its slots leased; undefined if nothing can be sent. Call
   * until undefined. A group has one model, at most the offered size, and its requests
   * have left the queue.
   */
  next(nowMs: number): DispatchPlan | undefined {
    this.#held.clear();
    return this.deps.queue.pick(nowMs, (lane, aged) => this.#planFor(lane, aged, nowMs));
  }

  /**
   * The earliest time at which `next`, or `aged` or `expired` of the queue, may return
   * something without any other event: a window closes, a request ages, a queue deadline
   * expires. A lane without a usable slot needs no timer: capacity$ wakes the loop.
   */
  nextWakeMs(nowMs: number): number | undefined {
    const { queue } = this.deps;
    if (queue.depth === 0) return undefined;
    let wakeAtMs = queue.nextDeadlineMs ?? Infinity;
    for (const lane of queue.lanes)
      wakeAtMs = Math.min(wakeAtMs, this.#wakeMs(lane, nowMs));
    return wakeAtMs === Infinity ? undefined : wakeAtMs;
  }

  /**
   * When such a request would start if it were queued, in milliseconds
   * (D-27); undefined: unknown.
   */
  startInMs(request: ScheduledRequest, nowMs: number): number | undefined {
    return this.deps.startInMs?.(request, nowMs);
  }

  /** Nothing of the model waits, and some worker of it has no request. */
  isIdle(model: string): boolean {
    const { realtime, batch } = this.deps.queue.depthOf(model);
    return realtime + batch === 0 && this.deps.workers.offer(model)?.idle === true;
  }

  /**
   * From now on windows close at once: shutdown sends queued requests while time remains.
   */
  draining(): void {
    this.#draining = true;
  }

  #planFor(lane: ModelLane, aged: boolean, nowMs: number): DispatchPlan | undefined {
    const { queue } = this.deps;
    if (this.#held.has(lane.model)) return undefined;
    const credit = slotCredit(lane, queue, nowMs);
    const offer = this.#offerFor(lane, credit);
    // Without a free slot, BATCH does not wait for the window.
    if (!offer?.free) lane.heldSinceMs = undefined;
    if (offer === undefined) {
      if (lane.order.nextOf(lane)?.item.mostTogether) this.#held.add(lane.model);
      return undefined;
    }
    const group = this.#groupOf(lane, aged, offer, nowMs);
    return group && this.#plan(lane, group, { offer, credit, nowMs });
  }

  /** A worker with some of this credit. */
  #offerFor(lane: ModelLane, credit: SlotCredit): SlotOffer | undefined {
    const { workers } = this.deps;
    const offer = workers.offer(lane.model, lane.order.nextOf(lane)?.item);
    return offer !== undefined && offer[credit] > 0 ? offer : undefined;
  }

  #groupOf(
    lane: ModelLane,
    aged: boolean,
    offer: SlotOffer,
    nowMs: number,
  ): Group | undefined {
    // Beside an aged request of another tenant, one that is not aged keeps its turn and
    // skips the window too.
    if (aged || lane.priority === RequestPriority.REALTIME) return SINGLE;
    const decision = this.#decide(lane, offer, nowMs);
    if (decision.go) return decision;
    lane.heldSinceMs ??= nowMs;
    return undefined;
  }

  #decide(lane: ModelLane, offer: SlotOffer, nowMs: number): WindowDecision {
    const { window } = this.deps;
    return this.#draining ? window.flush(lane, offer) : window.decide(lane, offer, nowMs);
  }

  #plan(
    lane: ModelLane,
    { count, reason }: Group,
    { offer, credit, nowMs }: Slots,
  ): DispatchPlan {
    const { queue, workers, admission, newGroupId } = this.deps;
    const { model } = lane;
    const { workerId } = offer;
    // Lease first: if that throws, nothing has left the queue.
    const leases = workers.lease(
      workerId,
      count,
      credit,
      lane.order.nextOf(lane)?.item.mostTogether,
    );
    const members: PlannedRequest[] = [];
    for (const request of queue.take(lane, count))
      members.push(this.#member(request, leases[members.length], lane, nowMs));
    for (const unused of leases.slice(members.length)) unused.release();
    lane.heldSinceMs = undefined;
    admission.drained(model, nowMs, members.length);
    const plan = { groupId: newGroupId(), model, workerId, reason, members };
    return members[0]?.aged ? { ...plan, agingShare: queue.options.agingShare } : plan;
  }

  #member(
    request: ScheduledRequest,
    lease: Lease | undefined,
    { heldSinceMs }: ModelLane,
    nowMs: number,
  ): PlannedRequest {
    if (lease === undefined)
      throw new Error(`Request ${request.id} was planned without a slot.`);
    const batchWaitMs = Math.max(
      0,
      nowMs - Math.max(heldSinceMs ?? nowMs, request.enqueuedAtMs),
    );
    return {
      request,
      lease,
      batchWaitMs,
      aged: isAged(request, nowMs, this.deps.queue.options.agingMs),
    };
  }

  /**
   * When the lane may be sent, or the next promotion is to be counted; one that is due
   * has been counted already.
   */
  #wakeMs(lane: ModelLane, nowMs: number): number {
    const { agingMs } = this.deps.queue.options;
    const promotedAtMs = agesAtMs(
      lane.oldestYoung?.item.enqueuedAtMs ?? Infinity,
      agingMs,
    );
    const isPromotion = lane.priority === RequestPriority.BATCH && promotedAtMs > nowMs;
    return Math.min(this.#sendsAtMs(lane, nowMs), isPromotion ? promotedAtMs : Infinity);
  }

  #sendsAtMs(lane: ModelLane, nowMs: number): number {
    const { queue } = this.deps;
    const { model, priority } = lane;
    const offer = this.#offerFor(lane, slotCredit(lane, queue, nowMs));
    if (offer === undefined || this.#held.has(model)) return Infinity;
    if ((queue.turnOf(model, nowMs) ?? priority) !== priority) return Infinity;
    if (priority === RequestPriority.REALTIME || lane.hasAged(nowMs)) return nowMs;
    const decision = this.#decide(lane, offer, nowMs);
    const ageMs = agesAtMs(lane.firstEnqueuedAtMs, queue.options.agingMs);
    return decision.go ? nowMs : Math.min(decision.wakeAtMs, ageMs);
  }
}
