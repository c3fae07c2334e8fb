import { type RequestView } from '../../core/dispatch/request-view.js';
import { type RequestKey } from '../../core/request/request-key.js';
import {
  type PriorityLabel,
  priorityLabel,
  type RequestPriority,
} from '../../core/request/request-priority.js';
import { RequestRecord } from '../../core/request/request-record.js';
import { RetryBudget } from '../../core/request/retry-budget.js';
import { type CancelReason, type Settlement } from '../../core/request/settlement.js';
import { type WorkerLostError } from '../../core/request/worker-lost.js';
import { DeviceTimeout } from '../../platform/process/device-timeout.js';
import { type WorkerCall } from '../../worker-client/worker-call.js';
import {
  type WorkerReply,
  type WorkerTask,
  type TaskRequest,
} from '../../worker-client/worker-task.js';
import { type SchedulerQueue } from './request-queue.port.js';
import { type SettledRequest } from './submitted-request.js';

/**
 * The record of one request in its gateway: also its queue, its caller, and whether it
 * can still be sent again.
 */
export class TrackedRequest extends RequestRecord<TaskRequest, WorkerReply> {
  /** As its caller knows it; for display. */
  readonly id: string;
  readonly tenant: string | undefined;
  readonly key: RequestKey;
  readonly model: string;
  priority: PriorityLabel;
  /** Unix milliseconds, for display. */
  readonly createdAtMs = Date.now();
  /** Exactly one answer per accepted request (D-04). Never rejects. */
  readonly settled: Promise<SettledRequest>;
  /** Hands the answer to the caller. */
  readonly answer: (settled: SettledRequest) => void;
  #accepted = false;
  #calls = 0;
  #lease: TrackedRequest['lease'];
  #cancelReason: CancelReason | undefined;
  #firstOutputAtMs: number | undefined;
  #lastOutputAtMs: number | undefined;
  #lossCode: TrackedRequest['lossCode'];
  #outputStarted = false;
  /** Its retries; undefined: no worker has given it back yet. */
  #retries: RetryBudget | undefined;
  /** How long lost workers had it. */
  #lostMs = 0;
  #deadline: DeviceTimeout | undefined;

  constructor(
    request: TaskRequest,
    readonly queue: SchedulerQueue,
  ) {
    super(request);
    const payload = watchOutput(request.payload, () => (this.#outputStarted = true));
    if (payload !== request.payload) this.replaced({ ...request, payload });
    this.id = request.id;
    this.tenant = request.tenant;
    this.key = request.key;
    this.model = request.model;
    this.priority = priorityLabel(request.priority);
    const { promise, resolve } = Promise.withResolvers<SettledRequest>();
    this.settled = promise;
    this.answer = resolve;
  }

  /** False while it is on its way into its queue. */
  get accepted(): boolean {
    return this.#accepted;
  }

  /**
   * Calls that workers have not ended: one may outlive its request when
   * that was cancelled.
   */
  get calls(): number {
    return this.#calls;
  }

  /** What it was sent with last, and how long it had waited by then. */
  get lease(): Pick<RequestView, 'group' | 'phases'> | undefined {
    return this.#lease;
  }

  /** When its answer began to go to its caller, in monotonic milliseconds. */
  get firstOutputAtMs(): number | undefined {
    return this.#firstOutputAtMs;
  }

  /** The code that it fails with because workers were lost with it; undefined: none. */
  get lossCode(): ReturnType<RetryBudget['spend']> {
    return this.#lossCode;
  }

  /**
   * True once speech or text has reached the caller: a second attempt would repeat it.
   */
  get outputStarted(): boolean {
    return this.#outputStarted;
  }

  accept(): void {
    this.#accepted = true;
  }

  /** The call to its worker begins. */
  called(nowMs: number): void {
    this.sent(nowMs);
    this.#calls += 1;
  }

  callEnded(): void {
    this.#calls -= 1;
  }

  cancelled(reason: CancelReason): void {
    this.#cancelReason = reason;
  }

  /**
   * A part of its answer goes to its caller.
   * @returns when the part before went; undefined: it is the first
   */
  wrote(nowMs: number): number | undefined {
    const lastMs = this.#lastOutputAtMs;
    this.#firstOutputAtMs ??= nowMs;
    this.#lastOutputAtMs = nowMs;
    return lastMs;
  }

  override leased(
    workerId: string,
    nowMs: number,
    batchWaitMs: number,
    group?: RequestView['group'],
  ): void {
    super.leased(workerId, nowMs, batchWaitMs);
    const queueWaitMs = nowMs - this.request.enqueuedAtMs;
    this.#lease = { group, phases: { queueWaitMs, batchWaitMs } };
  }

  override settle(settlement: Settlement<WorkerReply>, nowMs: number): boolean {
    const isAnswer = settlement.status === 'completed';
    return super.settle(
      settlement,
      nowMs,
      isAnswer ? settlement.reply.execution.readyWaitMs : undefined,
    );
  }

  override reprioritized(priority: RequestPriority): void {
    super.reprioritized(priority);
    this.priority = priorityLabel(priority);
  }

  /**
   * Its worker gave it back. Returns the request to queue again in its old place, or
   * undefined when it cannot be sent again.
   * @param lostMs how long that worker had it
   */
  retry(loss: WorkerLostError, lostMs: number): TaskRequest | undefined {
    const retries = (this.#retries ??= new RetryBudget());
    this.#lossCode = retries.spend(this.workerId ?? '', loss);
    this.#lostMs += lostMs;
    if (this.#lossCode !== undefined || this.#outputStarted) return undefined;
    const { request } = this;
    const { failedBy, mostTogether = request.mostTogether } = retries;
    const lastStartMs =
      request.deadline === undefined ? Infinity : (request.latestStartMs ?? Infinity);
    const queueDeadlineMs = Math.min(request.queueDeadlineMs + this.#lostMs, lastStartMs);
    return { ...request, queueDeadlineMs, avoid: failedBy, mostTogether };
  }

  /** The inference limit (D-07) of one call. */
  startDeadline(call: Pick<WorkerCall, 'progress'>, onOverdue: () => void): void {
    const limitMs = this.request.inferenceTimeoutMs;
    this.#deadline = new DeviceTimeout({ limitMs, ask: () => call.progress(), onOverdue });
  }

  stopDeadline(): void {
    this.#deadline?.stop();
  }

  /** As operators see it, live or settled, without its place in the queue. */
  view(nowMs: number): RequestView {
    const { state, phases, settlement, request, workerId } = this;
    const waitedMs =
      state === 'queued'
        ? nowMs - request.enqueuedAtMs
        : (phases.queueWaitMs ?? phases.totalMs ?? 0);
    return {
      id: this.id,
      model: this.model,
      tenant: this.tenant,
      priority: this.priority,
      state: settlement?.status ?? (state === 'queued' ? 'queued' : 'running'),
      createdAtMs: this.createdAtMs,
      route: request.route,
      aged: this.promoted,
      waitedMs,
      workerId,
      attempts: this.attempts,
      phases,
      group: workerId === undefined ? undefined : this.#lease?.group,
      cancelReason: this.#cancelReason,
      ...(settlement?.status === 'completed'
        ? { batchSize: settlement.reply.execution.batchSize }
        : settlement && { code: settlement.error.code }),
    };
  }
}

/** The task, with a sink that notices when the answer begins; itself without a sink. */
function watchOutput(task: WorkerTask, onBegin: () => void): WorkerTask {
  if (task.kind === 'synthesize') {
    const { sink } = task;
    const header: typeof sink.header = head => {
      onBegin();
      sink.header(head);
    };
    return { ...task, sink: { header, audio: sink.audio } };
  }
  if (task.kind !== 'generate' || !task.sink) return task;
  return { ...task, sink: { begin: onBegin, chunks: task.sink.chunks } };
}
