import { Inject, Injectable } from '@nestjs/common';
import { deviceShareMs } from '../../contracts/grpc/call.codec.js';
import { CancellationManager } from '../../core/cancellation/cancellation-manager.js';
import { type DispatchEvent, type LatencyPhases } from '../../core/dispatch/dispatch-event.js';
import { type WindowReason } from '../../core/dispatch/dispatch-plan.js';
import { type QueueComputation } from '../../core/dispatch/request-queue.port.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { LatencyTracker } from '../../core/latency/latency-tracker.js';
import { isAged } from '../../core/request/aging-policy.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type RequestPriority } from '../../core/request/request-priority.js';
import { type Settlement } from '../../core/request/settlement.js';
import { SlotMap } from '../../core/shared/slot-map.js';
import { type DomainError, type ErrorCode } from '../../core/shared/domain-error.js';
import { RecentMap } from '../../core/shared/recent-map.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type WorkerReply } from '../worker-pool/worker-task.js';
import { type TrackedRequest } from './tracked-request.js';
import { usageOf } from './work-usage.js';

/** Requests that ended recently, to explain a wait after the answer has gone out. Bounded by count. */
export class SettledHistory {
  readonly #views: RecentMap<RequestView, RequestKey>;

  constructor(limit = 1000) {
    this.#views = new RecentMap(limit);
  }

  add(key: RequestKey, view: RequestView): void {
    this.#views.add(key, view);
  }

  find(key: RequestKey): RequestView | undefined {
    return this.#views.get(key);
  }

  /** Latest first. */
  list(): RequestView[] {
    return [...this.#views.values()].reverse();
  }
}

/** `shutting_down`: its worker never started it. */
export type RequeueCode = 'worker_lost' | 'shutting_down';

type OwnFields<E> = E extends DispatchEvent
  ? Omit<E, 'key' | 'requestId' | 'tenant' | 'keyId' | 'model' | 'priority' | 'atMs'>
  : never;

/** A request was given to a worker: which one, and why now. */
export interface RequestLease {
  readonly workerId: string;
  readonly groupId: string;
  readonly groupSize: number;
  readonly reason: WindowReason;
  readonly batchWaitMs: number;
  readonly aged: boolean;
}

/**
 * The one owner of "what is running": every request from its submission to `settle`. State first, event second, caller
 * last: a subscriber finds the state already changed.
 */
@Injectable()
export class RequestRegistry {
  readonly history = new SettledHistory();
  /** On their way into their queue: not accepted yet. */
  readonly #entering = new Map<RequestKey, TrackedRequest>();
  readonly #live = new SlotMap<RequestKey, TrackedRequest>();
  /** Number of calls that workers have not ended, by key: a call may outlive its request when that was cancelled. */
  readonly #calls = new Map<RequestKey, number>();
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

  /** A request that is on its way into its queue. */
  entering(key: RequestKey): TrackedRequest | undefined {
    return this.#entering.get(key);
  }

  /** True while the id cannot be used again. */
  has(key: RequestKey): boolean {
    return this.#live.has(key) || this.#entering.has(key);
  }

  /** Before its queue is asked. `open` or `reject` follows. */
  enter(tracked: TrackedRequest): void {
    this.#entering.set(tracked.key, tracked);
  }

  /** Its queue has accepted it. */
  open(key: RequestKey): void {
    const tracked = this.#entering.get(key);
    if (!tracked) throw new Error(`request ${key} is accepted without having been submitted`);
    const { request } = tracked;
    this.#entering.delete(key);
    this.cancellation.register(key, { model: request.model, priority: request.priority });
    this.latency.start(key, request.enqueuedAtMs);
    this.#live.set(key, tracked);
    this.emit(tracked, { type: 'accepted', bytes: request.bytes, traceparent: request.traceparent });
  }

  /** It was never accepted. */
  reject(tracked: TrackedRequest, error: DomainError): void {
    this.#entering.delete(tracked.key);
    this.emit(tracked, { type: 'rejected', code: error.code });
    tracked.answer({ settlement: { status: 'failed', error }, phases: {}, attempts: 0 });
  }

  leased(tracked: TrackedRequest, { aged, ...lease }: RequestLease): void {
    const nowMs = this.clock.nowMs();
    const { lifecycle, request } = tracked;
    lifecycle.leased(lease.workerId);
    this.cancellation.inFlight(request.key, lease.workerId);
    this.latency.dequeued(request.key, nowMs, lease.batchWaitMs);
    if (aged) this.promoted(tracked);
    const queueWaitMs = nowMs - request.enqueuedAtMs;
    this.emit(tracked, { type: 'leased', ...lease, attempt: lifecycle.attempts, queueWaitMs });
  }

  /** It is aged (D-03). Counted and emitted once, also across re-queues. */
  promoted(tracked: TrackedRequest): void {
    if (!tracked.lifecycle.promote()) return;
    this.emit(tracked, { type: 'promoted', waitedMs: this.clock.nowMs() - tracked.request.enqueuedAtMs });
  }

  reprioritized(tracked: TrackedRequest, priority: RequestPriority): void {
    const from = tracked.priority;
    if (priority === tracked.request.priority) return;
    tracked.lifecycle.reprioritized(priority);
    this.cancellation.reprioritized(tracked.key, priority);
    this.emit(tracked, { type: 'reprioritized', from });
  }

  sent({ key }: TrackedRequest): void {
    this.latency.grpcStarted(key, this.clock.nowMs());
  }

  /** A pulling worker reported how long the request waited there for its group, counted from when it was taken. */
  computed({ key }: TrackedRequest, { leasedAtMs, batchWaitMs }: QueueComputation): void {
    this.latency.dequeued(key, leasedAtMs + batchWaitMs, batchWaitMs);
    this.latency.grpcStarted(key, leasedAtMs + batchWaitMs);
  }

  callStarted(key: RequestKey): void {
    this.#calls.set(key, (this.#calls.get(key) ?? 0) + 1);
  }

  callEnded(key: RequestKey): void {
    const calls = (this.#calls.get(key) ?? 0) - 1;
    if (calls > 0) this.#calls.set(key, calls);
    else this.#calls.delete(key);
  }

  /** True while a worker has not ended a call for the request. */
  hasCall(key: RequestKey): boolean {
    return this.#calls.has(key);
  }

  /** @param requeue puts it back into its queue: runs between the change of state and its event */
  requeued(tracked: TrackedRequest, code: RequeueCode, requeue?: () => void): void {
    const workerId = tracked.lifecycle.workerId ?? '';
    tracked.stopDeadline();
    tracked.lifecycle.requeued(code === 'worker_lost');
    this.cancellation.requeued(tracked.key);
    this.latency.requeued(tracked.key);
    requeue?.();
    this.emit(tracked, { type: 'requeued', workerId, code });
  }

  /** True exactly once per request (D-04), whichever of answer, deadline, cancel and shutdown comes first. */
  settle(tracked: TrackedRequest, settlement: Settlement<WorkerReply>): boolean {
    const { lifecycle, request } = tracked;
    const nowMs = this.clock.nowMs();
    // A request that ends in the queue between its promotion and the loop's next turn counts as promoted.
    if (lifecycle.state === 'queued' && isAged(request, nowMs, this.settings.queue.agingMs)) this.promoted(tracked);
    if (!lifecycle.settle(settlement)) return false;
    tracked.stopDeadline();
    if (settlement.status === 'completed') this.latency.ready(request.key, settlement.reply.execution.readyWaitMs);
    this.#live.delete(request.key);
    this.cancellation.unregister(request.key);
    const phases = this.latency.complete(request.key, nowMs) ?? { totalMs: nowMs - request.enqueuedAtMs };
    this.history.add(request.key, endedView(tracked, settlement, phases));
    this.#announce(tracked, settlement, phases);
    if (this.#live.size === 0) this.#idleWaiters.splice(0).forEach(resolve => resolve());
    return true;
  }

  /** A live request, without its place in the queue. */
  view({ request, lifecycle, priority, id, key }: TrackedRequest): RequestView {
    const nowMs = this.clock.nowMs();
    const phases = this.latency.get(key, nowMs) ?? {};
    const isQueued = lifecycle.state === 'queued';
    return {
      id,
      model: request.model,
      tenant: request.tenant,
      priority,
      state: isQueued ? 'queued' : 'running',
      aged: lifecycle.promoted,
      waitedMs: isQueued ? nowMs - request.enqueuedAtMs : (phases.queueWaitMs ?? 0),
      workerId: lifecycle.workerId,
      attempts: lifecycle.attempts,
      phases,
    };
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.#live.size === 0) return Promise.resolve();
    return new Promise(resolve => this.#idleWaiters.push(resolve));
  }

  emit(tracked: TrackedRequest, fields: OwnFields<DispatchEvent>): void {
    const { key, id: requestId, tenant, keyId, model } = tracked.request;
    const base = { key, requestId, tenant, keyId, model, priority: tracked.priority, atMs: this.clock.nowMs() };
    this.events.emit({ ...fields, ...base });
  }

  /** Undefined: it had no deadline. Without output on the way, its first output is the whole answer. */
  #metDeadline({ request: { deadline }, firstOutputAtMs }: TrackedRequest): boolean | undefined {
    const nowMs = this.clock.nowMs();
    const atMs = deadline?.until === 'first_output' ? (firstOutputAtMs ?? nowMs) : nowMs;
    return deadline && atMs <= deadline.atMs;
  }

  #announce(tracked: TrackedRequest, settlement: Settlement<WorkerReply>, phases: LatencyPhases): void {
    const { attempts } = tracked.lifecycle;
    const execution = settlement.status === 'completed' ? settlement.reply.execution : undefined;
    const { batchSize, batchId } = execution ?? {};
    const { status } = settlement;
    const usage = status === 'completed' ? usageOf(settlement.reply, tracked.request.payload) : undefined;
    const code = codeOf(settlement);
    const deviceMs = execution && deviceShareMs(execution);
    const computed = { batchSize, batchId, deviceMs, usage };
    const metDeadline = status === 'completed' ? this.#metDeadline(tracked) : undefined;
    this.emit(tracked, { type: 'settled', status, code, phases, ...computed, metDeadline, attempts });
    tracked.answer({ settlement, phases, attempts, batchSize, execution });
  }
}

const codeOf = (settlement: Settlement): ErrorCode | undefined =>
  settlement.status === 'completed' ? undefined : settlement.error.code;

function endedView(tracked: TrackedRequest, settlement: Settlement, phases: LatencyPhases): RequestView {
  const { id, request, priority, lifecycle } = tracked;
  return {
    id,
    model: request.model,
    tenant: request.tenant,
    priority,
    state: settlement.status,
    aged: lifecycle.promoted,
    // A request that never left the queue waited all its life.
    waitedMs: phases.queueWaitMs ?? phases.totalMs ?? 0,
    workerId: lifecycle.workerId,
    attempts: lifecycle.attempts,
    phases,
    code: codeOf(settlement),
  };
}
