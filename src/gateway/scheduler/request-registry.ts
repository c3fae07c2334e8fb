import { Inject, Injectable } from '@nestjs/common';
import { CancellationManager } from '../../core/cancellation/cancellation-manager.js';
import { type DispatchEvent, type LatencyPhases } from '../../core/dispatch/dispatch-event.js';
import { type DispatchPlan, type PlannedRequest } from '../../core/dispatch/dispatch-plan.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type Settlement } from '../../core/request/settlement.js';
import { SlotMap } from '../../core/shared/churn-map.js';
import { type DomainError, type ErrorCode } from '../../core/shared/domain-error.js';
import { LatencyTracker } from '../../core/latency/latency-tracker.js';
import { isAged } from '../../core/request/aging-policy.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/dispatch-event-bus.js';
import { type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';
import { type RequestView } from './request-view.js';
import { SettledHistory } from './settled-history.js';
import { TrackedRequest } from './tracked-request.js';
import { usageOf } from './work-usage.js';

/** `shutting_down`: its worker never began it. */
export type RequeueCode = 'worker_lost' | 'shutting_down';

type OwnFields<E> = E extends DispatchEvent
  ? Omit<E, 'key' | 'requestId' | 'tenant' | 'model' | 'priority' | 'atMs'>
  : never;

/**
 * The one owner of "what is running": every accepted request from `open` to `settle`. State first, event second, caller last,
 * so whoever hears of a change finds it already true.
 */
@Injectable()
export class RequestRegistry {
  readonly history = new SettledHistory();
  readonly #live = new SlotMap<RequestKey, TrackedRequest>();
  /** Calls that a worker has not let go of, by key: longer than the request lives when it was cancelled. */
  readonly #held = new Map<RequestKey, number>();
  readonly #idleWaiters: (() => void)[] = [];

  constructor(
    private readonly cancellation: CancellationManager,
    private readonly latency: LatencyTracker,
    private readonly events: DispatchEventBus,
    private readonly clock: ProcessClock,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'queue'>,
  ) {}

  get size(): number {
    return this.#live.size;
  }

  /** Oldest first. */
  live(): TrackedRequest[] {
    return [...this.#live.values()];
  }

  get(key: RequestKey): TrackedRequest | undefined {
    return this.#live.get(key);
  }

  /** True while the id cannot be used again: it runs, or a worker still computes it for nobody. */
  isTaken(key: RequestKey): boolean {
    return this.#live.has(key) || this.#held.has(key);
  }

  open(tracked: TrackedRequest): void {
    const { request } = tracked;
    this.cancellation.register(request.key, { model: request.model, priority: request.priority });
    this.latency.start(request.key, request.enqueuedAtMs);
    this.#live.set(request.key, tracked);
    this.emit(tracked, { type: 'accepted', bytes: request.bytes });
  }

  /** Refused after `RequestIntake.submit` returned: it was never accepted, and its caller hears why. */
  refuse(tracked: TrackedRequest, error: DomainError): void {
    this.emit(tracked, { type: 'rejected', code: error.code });
    tracked.answer({ settlement: { status: 'failed', error }, phases: {}, attempts: 0 });
  }

  leased(tracked: TrackedRequest, plan: DispatchPlan<WorkerTask>, member: PlannedRequest<WorkerTask>): void {
    const nowMs = this.clock.nowMs();
    const { lifecycle, request } = tracked;
    const { workerId, groupId, reason } = plan;
    const { batchWaitMs } = member;
    const queueWaitMs = nowMs - request.enqueuedAtMs;
    lifecycle.leased(workerId);
    this.cancellation.inFlight(request.key, workerId);
    this.latency.dequeued(request.key, nowMs, batchWaitMs);
    if (member.aged) this.promoted(tracked);
    const group = { groupId, groupSize: plan.members.length, reason, attempt: lifecycle.attempts };
    this.emit(tracked, { type: 'leased', workerId, ...group, queueWaitMs, batchWaitMs });
  }

  /** It is aged (D-03). Counted and told once, also across re-queues. */
  promoted(tracked: TrackedRequest): void {
    if (!tracked.lifecycle.promote()) return;
    this.emit(tracked, { type: 'promoted', waitedMs: this.clock.nowMs() - tracked.request.enqueuedAtMs });
  }

  sent(tracked: TrackedRequest): void {
    this.latency.grpcStarted(tracked.key, this.clock.nowMs());
    this.#held.set(tracked.key, (this.#held.get(tracked.key) ?? 0) + 1);
  }

  /** A worker that pulls told how long the request waited there for its group, counted from when it was taken. */
  grouped({ key }: TrackedRequest, takenAtMs: number, batchWaitMs: number): void {
    this.latency.dequeued(key, takenAtMs + batchWaitMs, batchWaitMs);
    this.latency.grpcStarted(key, takenAtMs + batchWaitMs);
  }

  /** The worker let go of one call. */
  released(key: RequestKey): void {
    const calls = (this.#held.get(key) ?? 0) - 1;
    if (calls > 0) this.#held.set(key, calls);
    else this.#held.delete(key);
  }

  /** `requeue` puts it back into the queue; it runs between the change of state and its event. */
  requeued(tracked: TrackedRequest, code: RequeueCode, requeue: (request: ScheduledRequest<WorkerTask>) => void): void {
    const workerId = tracked.lifecycle.workerId ?? '';
    tracked.lifecycle.requeued(code === 'worker_lost');
    this.cancellation.requeued(tracked.key);
    this.latency.requeued(tracked.key);
    requeue(tracked.request);
    this.emit(tracked, { type: 'requeued', workerId, code });
  }

  /** True exactly once per request (D-04), whoever of answer, deadline, cancel and shutdown comes first. */
  settle(tracked: TrackedRequest, settlement: Settlement<WorkerReply>): boolean {
    const { lifecycle, request } = tracked;
    const nowMs = this.clock.nowMs();
    // One that ends in the queue between its promotion and the loop's next turn was promoted all the same.
    if (lifecycle.state === 'queued' && isAged(request, nowMs, this.settings.queue.agingMs)) this.promoted(tracked);
    if (!lifecycle.settle(settlement)) return false;
    if (settlement.status === 'completed') this.latency.ready(request.key, settlement.reply.execution.readyWaitMs);
    this.#live.delete(request.key);
    this.cancellation.unregister(request.key);
    const phases = this.latency.complete(request.key, nowMs) ?? { totalMs: nowMs - request.enqueuedAtMs };
    this.history.add(request.key, endedView(tracked, settlement, phases));
    this.#announce(tracked, settlement, phases);
    if (this.#live.size === 0) this.#idleWaiters.splice(0).forEach(resolve => resolve());
    return true;
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.#live.size === 0) return Promise.resolve();
    return new Promise(resolve => this.#idleWaiters.push(resolve));
  }

  emit(tracked: Pick<TrackedRequest, 'request' | 'priority'>, fields: OwnFields<DispatchEvent>): void {
    const { key, id: requestId, tenant, model } = tracked.request;
    const base = { key, requestId, tenant, model, priority: tracked.priority, atMs: this.clock.nowMs() };
    this.events.emit({ ...fields, ...base });
  }

  #announce(tracked: TrackedRequest, settlement: Settlement<WorkerReply>, phases: LatencyPhases): void {
    const { attempts } = tracked.lifecycle;
    const execution = settlement.status === 'completed' ? settlement.reply.execution : undefined;
    const { batchSize, batchId } = execution ?? {};
    const { status } = settlement;
    const usage = status === 'completed' ? usageOf(settlement.reply) : undefined;
    const code = codeOf(settlement);
    this.emit(tracked, { type: 'settled', status, code, phases, batchSize, batchId, usage, attempts });
    tracked.answer({ settlement, phases, attempts, batchSize, execution });
  }
}

const codeOf = (settlement: Settlement): ErrorCode | undefined =>
  settlement.status === 'completed' ? undefined : settlement.error.code;

function endedView(tracked: TrackedRequest, settlement: Settlement, phases: LatencyPhases): RequestView {
  const { id, request, priority, lifecycle } = tracked;
  const { attempts, workerId, promoted: aged } = lifecycle;
  // One that never left the queue waited all its life.
  const waitedMs = phases.queueWaitMs ?? phases.totalMs ?? 0;
  const { status: state } = settlement;
  return {
    ...{ id, model: request.model, tenant: request.tenant, priority, state, aged, waitedMs, workerId },
    attempts,
    phases,
    code: codeOf(settlement),
  };
}
