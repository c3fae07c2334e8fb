import { asyncScheduler, type SchedulerLike, Subscription } from 'rxjs';
import { RequestPriority } from '../../core/request/request-priority.js';
import { abortError } from '../../core/shared/abort-error.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type MonotonicClock } from '../../core/shared/monotonic-clock.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { type ItemOutcome } from '../engines/engine.js';
import { type BatchJournal, DeviceLane, type GroupCompute, type LaneResult } from './batch-journal.js';
import { DeviceTurn, type DeviceView } from './device-turn.js';
import { PrepStage } from './prep-stage.js';
import { type ReadyEntry, ReadyQueue } from './ready-queue.js';
import { type Computed, type WorkItem } from './work-item.js';

/** The engine's limits, lowered to this worker's settings (`MAX_BATCH_SIZE`, `MAX_CONCURRENCY` of pulled work). */
export const deviceLimits = (
  { maxBatch, maxConcurrent, callMs }: DeviceLimits,
  { pull }: Pick<WorkerSpec, 'pull'>,
): DeviceLimits => ({
  ...(callMs !== undefined && { callMs }),
  maxBatch: Math.min(maxBatch, pull?.maxBatchSize ?? maxBatch),
  maxConcurrent: Math.min(maxConcurrent, pull?.maxConcurrency ?? maxConcurrent),
});

export interface DeviceLimits {
  readonly maxBatch: number;
  readonly maxConcurrent: number;
  /** As `EngineInfo.callMs`. */
  readonly callMs?: number;
}

export interface MicroBatcherOptions<Input, Ready, Value> {
  /** CPU work on one item; on abort it rejects as soon as the work has stopped. */
  readonly prepare: (item: WorkItem<Input>) => Promise<Ready>;
  readonly compute: GroupCompute<Ready, Value>;
  /** Read at every decision: an engine knows its limits only after loading. */
  readonly limits: () => DeviceLimits;
  readonly prepParallel: number;
  readonly clock: MonotonicClock;
  readonly journal: BatchJournal;
  /** True once no new request is accepted, so that no caller returns (false). */
  readonly draining?: () => boolean;
}

/** One item: arrived → preparing → READY → on the device → departed. */
interface Ticket<Ready, Value> extends ReadyEntry {
  readonly id: string;
  readonly signal: AbortSignal;
  ready?: Ready;
  prepMs: number;
  readyMs: number;
  settle: (result: LaneResult<Value>, outcome: ItemOutcome<Value>, size: number) => void;
}

/**
 * Prepares items side by side and gives the device one engine call for all that is READY, REALTIME first (D-24).
 * Group k+1 is prepared while group k is on the device, and one slow item delays only itself.
 */
export class MicroBatcher<Input, Ready, Value> {
  readonly #options: MicroBatcherOptions<Input, Ready, Value>;
  readonly #scheduler: SchedulerLike;
  readonly #prep: PrepStage;
  readonly #queue = new ReadyQueue<Ticket<Ready, Value>>();
  readonly #lane: DeviceLane<Ready, Value>;
  readonly #turn = new DeviceTurn();
  #sequence = 0;
  #wake = Subscription.EMPTY;

  constructor(options: MicroBatcherOptions<Input, Ready, Value>, scheduler: SchedulerLike = asyncScheduler) {
    this.#options = options;
    this.#scheduler = scheduler;
    this.#prep = new PrepStage({ parallel: options.prepParallel, clock: options.clock });
    this.#lane = new DeviceLane(options.compute, options.clock);
  }

  /**
   * Resolves with this item's own value. Rejects with its own failure, or with the abort's error once the work has
   * stopped: at once while it waits, else when `prepare` or the engine call returns.
   */
  async submit(item: WorkItem<Input>): Promise<Computed<Value>> {
    const ticket = this.#admit(item);
    try {
      await this.#prepare(item, ticket);
      return await this.#compute(ticket);
    } finally {
      this.#queue.departed(ticket);
      // An idle device may have been waiting for this member.
      this.#pump();
    }
  }

  #admit({ id, priority, group, flow, signal }: WorkItem<Input>): Ticket<Ready, Value> {
    const sequence = this.#sequence++;
    const { agingShare } = group;
    const times = { prepMs: 0, readyMs: 0 };
    const ticket = { id, priority, group, flow, agingShare, signal, sequence, ...times, settle: () => undefined };
    this.#queue.arrived(ticket, this.#options.clock.nowMs());
    return ticket;
  }

  async #prepare(item: WorkItem<Input>, ticket: Ticket<Ready, Value>): Promise<void> {
    try {
      if (item.signal.aborted) throw abortError(item.signal);
      const { value, prepMs } = await this.#prep.run(ticket, item.signal, () => this.#options.prepare(item));
      if (item.signal.aborted) throw abortError(item.signal);
      Object.assign(ticket, { ready: value, prepMs });
    } catch (error) {
      this.#queue.neverReady(ticket, this.#options.clock.nowMs());
      // The error of an interrupted preparation is replaced by the cause of the abort.
      throw item.signal.aborted ? abortError(item.signal) : error;
    }
  }

  #compute(ticket: Ticket<Ready, Value>): Promise<Computed<Value>> {
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        if (this.#queue.remove(ticket)) reject(abortError(ticket.signal));
      };
      ticket.settle = (result, outcome, size) => {
        ticket.signal.removeEventListener('abort', abandon);
        if (ticket.signal.aborted) reject(abortError(ticket.signal));
        else if (!outcome.ok) reject(asDomainError(outcome.error));
        else resolve({ value: outcome.value, execution: executionOf(ticket, result, size) });
      };
      ticket.signal.addEventListener('abort', abandon, { once: true });
      this.#enqueue(ticket);
      this.#pump();
    });
  }

  #enqueue(ticket: Ticket<Ready, Value>): void {
    ticket.readyMs = this.#options.clock.nowMs();
    const gatheredMs = this.#queue.ready(ticket, ticket.readyMs);
    this.#turn.ready(ticket.readyMs, gatheredMs, ticket.priority === RequestPriority.REALTIME);
  }

  /** Starts the engine calls that may start now. */
  #pump(): void {
    const limits = this.#options.limits();
    const { maxBatch, maxConcurrent } = limits;
    while (this.#queue.size > 0 && this.#lane.running < maxConcurrent) {
      const nowMs = this.#options.clock.nowMs();
      const decision = this.#turn.decide(this.#view(limits), nowMs);
      if (!decision.go) return this.#sleep(decision.wakeAtMs - nowMs);
      void this.#launch(this.#queue.take(maxBatch), maxBatch);
    }
    this.#turn.over();
    this.#wake.unsubscribe();
  }

  #view({ maxBatch, callMs }: DeviceLimits): DeviceView {
    return {
      ...(callMs !== undefined && { callMs }),
      ready: this.#queue.size,
      maxBatch,
      running: this.#lane.running,
      missing: this.#queue.missingOfHead,
      preparing: this.#queue.preparing,
      realtime: this.#queue.head?.priority === RequestPriority.REALTIME,
      draining: this.#options.draining?.() ?? false,
    };
  }

  #sleep(delayMs: number): void {
    this.#wake.unsubscribe();
    this.#wake = this.#scheduler.schedule(() => this.#pump(), delayMs);
  }

  async #launch(tickets: readonly Ticket<Ready, Value>[], maxBatch: number): Promise<void> {
    this.#options.journal.collected(tickets, maxBatch);
    const result = await this.#lane.run(tickets.map(ticket => ticket.ready as Ready));
    this.#ended(tickets, result, maxBatch);
    // Before the next call, which may crash this process.
    this.#options.journal.done(tickets, result);
    this.#pump();
    tickets.forEach((ticket, index) => ticket.settle(result, result.outcomes[index]!, tickets.length));
  }

  #ended(tickets: readonly Ticket<Ready, Value>[], { startedMs, deviceMs }: LaneResult<Value>, maxBatch: number): void {
    // Cancelled callers are not expected to return.
    const answered = tickets.filter(({ signal }) => !signal.aborted);
    const urgent = answered.filter(({ priority }) => priority === RequestPriority.REALTIME).length;
    const full = this.#queue.size >= maxBatch;
    this.#turn.ended({ answered: answered.length, urgent, deviceMs, full }, startedMs + deviceMs);
  }
}

const executionOf = <Ready, Value>(ticket: Ticket<Ready, Value>, result: LaneResult<Value>, batchSize: number) => ({
  prepMs: ticket.prepMs,
  readyWaitMs: result.startedMs - ticket.readyMs,
  deviceMs: result.deviceMs,
  batchSize,
  batchId: result.batchId,
});

/** Plain errors of an engine become `engine_failed`. */
const asDomainError = (error: Error): DomainError =>
  error instanceof DomainError ? error : new DomainError('engine_failed', error.message, { cause: error });
