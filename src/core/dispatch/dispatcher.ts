import { type BatchWindow } from '../batching/batch-window.js';
import { type DomainError } from '../errors/domain-error.js';
import { type Admission } from '../queue/admission.js';
import { type ModelLane } from '../queue/model-lane.js';
import { type PriorityQueue } from '../queue/priority-queue.js';
import { agesAtMs, isAged } from '../request/request-age.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { type DispatchPlan } from './dispatch-plan.js';
import { type Lease } from './lease.js';
import { slotCredit } from './slot-credit.js';
import { type SlotOffer, type WorkerPort } from './worker.port.js';

const SINGLE = { go: true, count: 1, reason: 'single' } as const;

/**
 * Free slot → lane → group → plan: the only place that decides the order (D-01, D-02,
 * D-03, D-23). It decides and leases. It calls no worker, arms no timer and reads no
 * clock; its caller runs the plans and reports the outcomes.
 */
export class Dispatcher {
  readonly queue: PriorityQueue;
  /**
   * Models in which a suspect has the next turn and waits for a worker of its own:
   * nothing is sent ahead of it.
   */
  readonly #held = new Set<string>();
  #draining = false;

  constructor(
    private readonly deps: {
      readonly queue: PriorityQueue;
      readonly window: BatchWindow;
      /** Absent: every request is accepted. */
      readonly admission?: Admission;
      readonly workers: WorkerPort;
      readonly newGroupId: () => string;
      /**
       * When a request would start if it were queued, in milliseconds
       * (D-27); undefined: unknown.
       */
      readonly startInMs?: (request: ScheduledRequest, nowMs: number) => number | undefined;
    },
  ) {
    this.queue = deps.queue;
  }

  /**
   * Queues the request. Throws `duplicate_request_id`.
   * @returns `queue_full` with `retryAfterMs` when a bound rejects it (D-08)
   */
  submit(request: ScheduledRequest, nowMs: number): DomainError | undefined {
    const { queue, admission } = this.deps;
    const refusal = admission?.check(queue, request);
    if (!admission || !refusal) return void queue.enqueue(request);
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
    return this.queue.pick(nowMs, this.#planFor);
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
    for (const lane of queue.lanes) wakeAtMs = Math.min(wakeAtMs, this.#wakeMs(lane, nowMs));
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

  readonly #planFor = (lane: ModelLane, aged: boolean, nowMs: number): DispatchPlan | undefined => {
    const { queue, workers, admission, newGroupId } = this.deps;
    const { model } = lane;
    if (this.#held.has(model)) return undefined;
    const next = queue.nextOf(lane, nowMs)?.item;
    const offer = workers.offer(model, next);
    // Without a free slot, BATCH does not wait for the window.
    if (!offer?.free) lane.letGo();
    const credit = slotCredit(lane, queue, nowMs);
    if (!offer?.[credit]) {
      if (next) this.#holdFor(next, nowMs);
      return undefined;
    }
    // Beside an aged request of another tenant, one that is not aged keeps its turn and
    // skips the window too.
    const isSingle = aged || lane.priority === RequestPriority.REALTIME;
    const group = isSingle ? SINGLE : this.#decide(lane, offer, nowMs);
    if (!group.go) {
      lane.hold(nowMs);
      return undefined;
    }
    const { workerId } = offer;
    // Lease first: if that throws, nothing has left the queue.
    const leases = workers.lease(workerId, group.count, credit, next?.mostTogether);
    const members = this.#take(lane, leases, nowMs);
    admission?.drained(model, nowMs, members.length);
    return {
      groupId: newGroupId(),
      model,
      workerId,
      reason: group.reason,
      agingShare: members[0]?.aged ? queue.options.agingShare : undefined,
      members,
    };
  };

  /** Nothing is sent ahead of a suspect that waits for a worker, unless it yields. */
  #holdFor(next: ScheduledRequest, nowMs: number): void {
    if (next.mostTogether && !this.queue.yields(next, nowMs)) this.#held.add(next.model);
  }

  #decide(lane: ModelLane, offer: SlotOffer, nowMs: number) {
    const { window } = this.deps;
    return this.#draining ? window.flush(lane, offer) : window.decide(lane, offer, nowMs);
  }

  /** One request for each lease. The queue may have fewer: their leases are released. */
  #take(lane: ModelLane, leases: readonly Lease[], nowMs: number) {
    const { queue } = this.deps;
    const { heldSinceMs = nowMs } = lane;
    const requests = queue.take(lane, leases.length, nowMs);
    const members: DispatchPlan['members'][number][] = [];
    for (const lease of leases) {
      const request = requests[members.length];
      if (request === undefined) {
        lease.release();
        continue;
      }
      const sinceMs = Math.max(heldSinceMs, request.enqueuedAtMs);
      const batchWaitMs = Math.max(0, nowMs - sinceMs);
      const aged = isAged(request, nowMs, queue.options.agingMs);
      members.push({ request, lease, batchWaitMs, aged });
    }
    lane.letGo();
    return members;
  }

  /**
   * When the lane may be sent, or the next promotion is to be counted; one that is due
   * has been counted already.
   */
  #wakeMs(lane: ModelLane, nowMs: number): number {
    const promotedAtMs = lane.oldestYoung?.place.agesAtMs ?? Infinity;
    const isPromotion = lane.priority === RequestPriority.BATCH && promotedAtMs > nowMs;
    return Math.min(this.#sendsAtMs(lane, nowMs), isPromotion ? promotedAtMs : Infinity);
  }

  #sendsAtMs(lane: ModelLane, nowMs: number): number {
    const { queue, workers } = this.deps;
    const { model, priority } = lane;
    const offer = workers.offer(model, queue.nextOf(lane, nowMs)?.item);
    const credit = slotCredit(lane, queue, nowMs);
    if (!offer?.[credit] || this.#held.has(model)) return Infinity;
    if ((queue.turnOf(model, nowMs) ?? priority) !== priority) return Infinity;
    if (priority === RequestPriority.REALTIME || lane.hasAged(nowMs)) return nowMs;
    const decision = this.#decide(lane, offer, nowMs);
    const ageMs = agesAtMs(lane.firstEnqueuedAtMs, queue.options.agingMs);
    return decision.go ? nowMs : Math.min(decision.wakeAtMs, ageMs);
  }
}
