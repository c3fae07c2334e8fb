import { Inject, Injectable } from '@nestjs/common';
import { SlotMap } from '@switchyard/engine-api/slot-map.js';
import { deviceShareMs } from '@switchyard/worker-protocol/call.codec.js';
import { type DispatchEvent, type EventOf } from '../../core/dispatch/dispatch-event.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { RecentMap } from '../../core/request/recent-map.js';
import { isAged } from '../../core/request/request-age.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type RequestPriority } from '../../core/request/request-priority.js';
import { type RequestDeadline } from '../../core/request/scheduled-request.js';
import { type Settlement } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { type TrackedRequest } from './tracked-request.js';
import { usageOf } from './work-usage.js';

/** Requests that ended recently, to explain a wait after the answer has gone out. */
const MAX_ENDED = 1000;

type OwnFields<E> = E extends DispatchEvent
  ? Omit<E, 'key' | 'requestId' | 'tenant' | 'keyId' | 'model' | 'priority' | 'atMs'>
  : never;

/**
 * The one owner of "what is running": the record of every request from its
 * submission until it is settled and no worker runs it any more. The state changes
 * first, then the event is emitted, then the caller is answered: a subscriber finds
 * the state already changed.
 *
 * Who ends a request: `settle`, once, whoever comes first: the answer (`WorkerCalls`,
 * `RequestReports`), the queue deadline (`RequestReports`), or a stop (`CancellationManager`).
 */
@Injectable()
export class RequestRegistry {
  /** By key: a key that is in here cannot be used again. */
  readonly #records = new SlotMap<RequestKey, TrackedRequest>();
  readonly #ended = new RecentMap<RequestView, RequestKey>(MAX_ENDED);
  readonly #idleWaiters: (() => void)[] = [];
  #size = 0;

  constructor(
    private readonly events: DispatchEventBus,
    private readonly clock: ProcessClock,
    @Inject(Settings) private readonly settings: Pick<Settings, 'queue'>,
  ) {}

  /** Requests that are accepted and have not ended. */
  get size(): number {
    return this.#size;
  }

  nowMs(): number {
    return this.clock.nowMs();
  }

  /**
   * Whatever its state, until its settlement has been emitted and no worker has
   * it any more: until then its id cannot be used again.
   */
  record(key: RequestKey): TrackedRequest | undefined {
    return this.#records.get(key);
  }

  /** Accepted ones that have not ended, oldest first. */
  live(): TrackedRequest[] {
    return this.unsettled().filter(({ accepted }) => accepted);
  }

  /** Requests that have not ended, those on their way into their queue included. */
  unsettled(): TrackedRequest[] {
    return [...this.#records.values()].filter(({ state }) => state !== 'settled');
  }

  /** A request that was accepted and has not ended. */
  get(key: RequestKey): TrackedRequest | undefined {
    const record = this.#records.get(key);
    return record?.accepted && record.state !== 'settled' ? record : undefined;
  }

  /** A request that is on its way into its queue. */
  entering(key: RequestKey): TrackedRequest | undefined {
    const record = this.#records.get(key);
    return record?.accepted ? undefined : record;
  }

  /** One of those that ended recently. */
  ended(key: RequestKey): RequestView | undefined {
    return this.#ended.get(key);
  }

  /** Ended requests that are remembered, latest first. */
  allEnded(): RequestView[] {
    return [...this.#ended.values()].reverse();
  }

  /** As operators see it, without its place in the queue. */
  view(record: TrackedRequest): RequestView {
    return record.view(this.clock.nowMs());
  }

  /** It is BATCH and has waited so long that it competes with REALTIME (D-03). */
  isAged({ request }: TrackedRequest): boolean {
    return isAged(request, this.clock.nowMs(), this.settings.queue.agingMs);
  }

  /** Registers a request before its queue accepts it; `open` or `reject` follows. */
  enter(record: TrackedRequest): void {
    this.#records.set(record.key, record);
  }

  /** Its queue has accepted it. */
  open(record: TrackedRequest): void {
    const { bytes, traceparent } = record.request;
    record.accept();
    this.#size += 1;
    this.emit(record, { type: 'accepted', bytes, traceparent });
  }

  /** Ends a request that was refused on arrival. */
  reject(record: TrackedRequest, error: DomainError): void {
    if (this.entering(record.key) === record) this.#records.delete(record.key);
    this.emit(record, { type: 'rejected', code: error.code });
    record.answer({ settlement: { status: 'failed', error }, phases: {}, attempts: 0 });
  }

  /** @param aged it is BATCH and was taken because of its age (D-03) */
  leased(
    record: TrackedRequest,
    lease: Omit<OwnFields<EventOf<'leased'>>, 'type' | 'attempt' | 'queueWaitMs'>,
    aged: boolean,
  ): void {
    const nowMs = this.clock.nowMs();
    const { workerId, groupId: id, groupSize: size, reason, batchWaitMs } = lease;
    record.leased(workerId, nowMs, batchWaitMs, { id, size, reason });
    const queueWaitMs = nowMs - record.request.enqueuedAtMs;
    if (aged) this.promoted(record);
    const attempt = record.attempts;
    this.emit(record, { type: 'leased', ...lease, attempt, queueWaitMs });
  }

  /** It is aged (D-03). Counted and emitted once, also across re-queues. */
  promoted(record: TrackedRequest): void {
    if (!record.promote()) return;
    this.emit(record, {
      type: 'promoted',
      waitedMs: this.clock.nowMs() - record.request.enqueuedAtMs,
    });
  }

  reprioritized(record: TrackedRequest, priority: RequestPriority): void {
    const from = record.priority;
    if (priority === record.request.priority) return;
    record.reprioritized(priority);
    this.emit(record, { type: 'reprioritized', from });
  }

  /**
   * A worker has ended a call: after the last one, the id of a settled request can
   * be used again.
   */
  callEnded(record: TrackedRequest): void {
    record.callEnded();
    if (record.calls === 0 && record.state === 'settled') this.#records.delete(record.key);
  }

  /**
   * @param requeue puts it back into its queue: runs between the change of state
   *   and its event
   */
  requeued(
    record: TrackedRequest,
    code: 'worker_lost' | 'shutting_down',
    requeue?: () => void,
  ): void {
    const workerId = record.workerId ?? '';
    record.stopDeadline();
    record.requeued(code === 'worker_lost');
    requeue?.();
    this.emit(record, { type: 'requeued', workerId, code });
  }

  /**
   * True exactly once per request (D-04), whichever of answer, deadline, cancel and
   * shutdown comes first.
   */
  settle(record: TrackedRequest, settlement: Settlement<WorkerReply>): boolean {
    const nowMs = this.clock.nowMs();
    // A request that ends in the queue between its promotion and the loop's next turn
    // counts as promoted.
    if (record.state === 'queued' && this.isAged(record)) this.promoted(record);
    if (!record.settle(settlement, nowMs)) return false;
    record.stopDeadline();
    this.#size -= 1;
    this.#ended.add(record.key, record.view(nowMs));
    const { attempts, phases } = record;
    const { status } = settlement;
    const outcome =
      settlement.status === 'completed'
        ? completion(record, settlement.reply, nowMs)
        : { code: settlement.error.code };
    this.emit(record, { type: 'settled', status, phases, attempts, ...outcome });
    record.answer({ settlement, phases, attempts });
    if (record.calls === 0) this.#records.delete(record.key);
    if (this.#size === 0) this.#idleWaiters.splice(0).forEach(resolve => resolve());
    return true;
  }

  /** Of one that completed here, and that its store has cancelled nevertheless. */
  withdrawn(key: RequestKey): void {
    const view = this.#ended.get(key);
    if (view?.state !== 'completed') return;
    const { id: requestId, tenant, model, priority } = view;
    const end = { state: 'cancelled', code: 'request_cancelled', cancelReason: 'client' } as const;
    this.#ended.add(key, { ...view, ...end });
    const atMs = this.clock.nowMs();
    this.events.emit({ type: 'withdrawn', key, requestId, tenant, model, priority, atMs });
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.#size === 0) return Promise.resolve();
    return new Promise(resolve => this.#idleWaiters.push(resolve));
  }

  emit(record: TrackedRequest, fields: OwnFields<DispatchEvent>): void {
    const { key, id: requestId, tenant, model, priority } = record;
    const { keyId } = record.request;
    this.events.emit({
      ...fields,
      key,
      requestId,
      tenant,
      keyId,
      model,
      priority,
      atMs: this.clock.nowMs(),
    });
  }
}

/** What an answer adds to the event of its settlement. */
function completion(record: TrackedRequest, reply: WorkerReply, nowMs: number) {
  const { request, firstOutputAtMs } = record;
  const { batchSize, batchId } = reply.execution;
  return {
    batchSize,
    batchId,
    deviceMs: deviceShareMs(reply.execution),
    usage: usageOf(reply, request.payload),
    lateS: reply.kind === 'speech' ? reply.lateS : undefined,
    firstOutputMs: firstOutputAtMs && firstOutputAtMs - request.enqueuedAtMs,
    metDeadline: request.deadline && metDeadline(request.deadline, record, nowMs),
  };
}

/** Without output on the way, its first output is the whole answer. */
const metDeadline = (
  { until, atMs }: RequestDeadline,
  { firstOutputAtMs = Infinity }: TrackedRequest,
  nowMs: number,
): boolean => (until === 'first_output' ? Math.min(firstOutputAtMs, nowMs) : nowMs) <= atMs;
