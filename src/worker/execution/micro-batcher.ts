import { asyncScheduler, type SchedulerLike, Subscription } from 'rxjs';
import { RequestPriority } from '../../core/request/request-priority.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type MonotonicClock } from '../../core/batching/window-timers.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { type EngineInfo, type ItemOutcome } from '@switchyard/engine-api/engine.js';
import {
  type BatchJournal,
  type EngineCall,
  engineCall,
  type GroupCompute,
} from './batch-journal.js';
import { type Prepared, PrepStage } from '../lifecycle/prep-stage.js';
import { type PlacedWork, WorkQueue } from '../lifecycle/work-queue.js';
import { blended } from '../../core/queue/answer-times.js';
import { SlotMap } from '../../core/request/slot-map.js';
import { type CallExecution, type CallGroup } from '../../contracts/grpc/call.codec.js';

/** The device and what is READY, when an engine call could start. */
interface DeviceView {
  /** Items that could go now, at least 1. */
  readonly ready: number;
  readonly maxBatch: number;
  /** Engine calls that run now. */
  readonly running: number;
  /** Group of the first item to go. */
  readonly group: CallGroup;
  /** The first item to go is REALTIME: it waits for its own group only. */
  readonly realtime: boolean;
  /**
   * What the engine expects an engine call to take, milliseconds; absent: it
   * does not know.
   */
  readonly callMs?: number;
}

/** Members of a group, from the first arrival until none is left in the worker. */
interface Members {
  readonly size: number;
  readonly firstArrivedMs: number;
  arrived: number;
  preparing: number;
  present: number;
}

/**
 * Allows for arrivals delayed by a busy machine; only a member that never comes
 * costs this time.
 */
const FLOOR_MS = 50;

/**
 * For a device whose calls are short; one that is slower may wait for half of
 * its usual time.
 */
const CEILING_MS = 250;

/**
 * Longest wait for a group, and for items of other groups, as a share of the
 * usual device time.
 */
const GROUP_SHARE = 0.5;

const OTHERS_SHARE = 0.25;

/** A group is waited for twice as long as groups usually take to be READY. */
const SLACK = 2;

const GROUP_WEIGHT = 0.2;

const CALL_WEIGHT = 0.15;

/**
 * Decides when the device takes what is READY (D-24). An idle device waits for the rest
 * of the first item's group, at most twice as long as groups usually take. A device
 * whose calls take so long that it pays also waits for what else is being prepared:
 * uploads that came together would otherwise be computed one after the other. After an
 * engine call that left READY items it does not wait. Pure: the caller passes the time
 * and does the waiting.
 */
export class DevicePolicy {
  readonly #groups = new SlotMap<string, Members>();
  #preparing = 0;
  /** Usual time from the first arrival of a group until all are READY, milliseconds. */
  #gatherMs: number | undefined;
  /** Usual time of an engine call, milliseconds. */
  #callMs: number | undefined;
  /** An engine call ended and left READY items. */
  #freed = false;
  #waitingSinceMs: number | undefined;

  /** Groups of which a member is in the worker. */
  get groups(): number {
    return this.#groups.size;
  }

  arrived({ id, size }: CallGroup, nowMs: number): void {
    this.#preparing += 1;
    if (size <= 1) return;
    const members = this.#groups.get(id) ?? {
      size,
      firstArrivedMs: nowMs,
      arrived: 0,
      preparing: 0,
      present: 0,
    };
    this.#groups.set(id, members);
    members.arrived += 1;
    members.preparing += 1;
    members.present += 1;
  }

  /**
   * @param isReady false: its preparation failed or was cancelled, and the others no
   *   longer wait for it
   */
  prepared({ id }: CallGroup, isReady: boolean, nowMs: number): void {
    this.#preparing -= 1;
    const members = this.#groups.get(id);
    if (members === undefined) return;
    members.preparing -= 1;
    if (!isReady || missingOf(members) > 0) return;
    this.#gatherMs = blended(
      this.#gatherMs,
      nowMs - members.firstArrivedMs,
      GROUP_WEIGHT,
    );
  }

  /**
   * Every item that arrived leaves, whatever happened in between: a member that never
   * came goes with the others.
   */
  departed({ id }: CallGroup): void {
    const members = this.#groups.get(id);
    if (members === undefined) return;
    members.present -= 1;
    if (members.present === 0) this.#groups.delete(id);
  }

  /** An engine call ended. */
  ended(deviceMs: number): void {
    this.#freed = true;
    this.#callMs = blended(this.#callMs, deviceMs, CALL_WEIGHT);
  }

  /**
   * Monotonic milliseconds until which the device waits; undefined: it takes
   * what is READY.
   */
  waitsUntilMs(device: DeviceView, nowMs: number): number | undefined {
    this.#callMs ??= device.callMs;
    if (this.#freed || device.ready >= device.maxBatch) return undefined;
    const untilMs =
      (this.#waitingSinceMs ?? nowMs) +
      Math.max(this.#groupMs(device), this.#othersMs(device));
    if (nowMs >= untilMs) return undefined;
    this.#waitingSinceMs ??= nowMs;
    return untilMs;
  }

  /** Nothing is held any more: the device took what was READY, or nothing is. */
  over(): void {
    this.#freed = false;
    this.#waitingSinceMs = undefined;
  }

  /** For the rest of the first item's group. */
  #groupMs({ running, group }: DeviceView): number {
    const members = this.#groups.get(group.id);
    if (running > 0 || members === undefined || missingOf(members) === 0) return 0;
    const ceilingMs = Math.max(CEILING_MS, GROUP_SHARE * (this.#callMs ?? 0));
    if (this.#gatherMs === undefined) return ceilingMs;
    return Math.min(ceilingMs, Math.max(FLOOR_MS, SLACK * this.#gatherMs));
  }

  /** For items of other groups; 0 for a device that is fast. */
  #othersMs({ realtime }: DeviceView): number {
    if (this.#preparing === 0 || realtime) return 0;
    const worthMs = OTHERS_SHARE * (this.#callMs ?? 0);
    return worthMs < FLOOR_MS ? 0 : worthMs;
  }
}

const missingOf = ({ size, arrived, preparing }: Members): number =>
  Math.max(0, size - arrived) + preparing;

/**
 * The engine's limits, lowered to this worker's settings (`MAX_BATCH_SIZE`,
 * `MAX_CONCURRENCY` of pulled work).
 */
export const deviceLimits = (
  { maxBatch, maxConcurrent, callMs }: DeviceLimits,
  { pull }: Pick<WorkerSpec, 'pull'>,
): DeviceLimits => ({
  callMs,
  maxBatch: Math.min(maxBatch, pull?.maxBatchSize ?? maxBatch),
  maxConcurrent: Math.min(maxConcurrent, pull?.maxConcurrency ?? maxConcurrent),
});

/** One request in the micro-batcher. */
interface WorkItem<Input> {
  readonly id: string;
  readonly priority: RequestPriority;
  /** Calls that were dispatched together (D-24); size 1: alone. */
  readonly group: CallGroup;
  readonly input: Input;
  /** Shared by the parts of one long request, which take turns with other requests. */
  readonly flow?: string;
  /** Aborted by the Cancel RPC, by the caller's disconnect or by shutdown. */
  readonly signal: AbortSignal;
}

export interface Computed<Value> {
  readonly value: Value;
  readonly execution: CallExecution;
}

type DeviceLimits = Pick<EngineInfo, 'maxBatch' | 'maxConcurrent' | 'callMs'>;

/** A prepared item that waits for the device, or is on it. */
interface ReadyItem<Ready, Value> extends PlacedWork, Prepared<Ready> {
  readonly id: string;
  readonly item: WorkItem<unknown>;
  readonly readyMs: number;
  /** The engine call has ended. */
  settle(call: EngineCall<Value>, outcome: ItemOutcome<Value>): void;
}

/**
 * Prepares items side by side and gives the device one engine call for all that is
 * READY, REALTIME first (D-24). Group k+1 is prepared while group k is on the device,
 * and one slow item delays only itself. An item is arrived → preparing → READY → on the
 * device → departed.
 */
export class MicroBatcher<Input, Ready, Value> {
  readonly #prep: PrepStage;
  readonly #queue = new WorkQueue<ReadyItem<Ready, Value>>();
  readonly #policy = new DevicePolicy();
  /** Engine calls that run now. */
  #running = 0;
  #sequence = 0;
  #wake = Subscription.EMPTY;

  constructor(
    private readonly options: {
      /** CPU work on one item; on abort it rejects as soon as the work has stopped. */
      readonly prepare: (input: Input, signal: AbortSignal) => Promise<Ready>;
      readonly compute: GroupCompute<Ready, Value>;
      /** Read at every decision: an engine knows its limits only after loading. */
      readonly limits: () => DeviceLimits;
      readonly prepParallel: number;
      readonly clock: MonotonicClock;
      readonly journal: BatchJournal;
    },
    private readonly scheduler: SchedulerLike = asyncScheduler,
  ) {
    this.#prep = new PrepStage(options.prepParallel, options.clock);
  }

  /**
   * Resolves with this item's own value. Rejects with its own failure, or with the
   * abort's error once the work has stopped: at once while it waits, else when `prepare`
   * or the engine call returns.
   */
  async submit(item: WorkItem<Input>): Promise<Computed<Value>> {
    const { priority, group, flow } = item;
    const place = {
      priority,
      sequence: this.#sequence++,
      flow,
      agingShare: group.agingShare,
    };
    this.#policy.arrived(group, this.options.clock.nowMs());
    try {
      return await this.#compute(item, place, await this.#prepare(item, place));
    } finally {
      this.#policy.departed(group);
      // An idle device may have been waiting for this member.
      this.#pump();
    }
  }

  async #prepare(item: WorkItem<Input>, place: PlacedWork): Promise<Prepared<Ready>> {
    const { signal } = item;
    try {
      const prepared = await this.#prep.run(place, signal, () =>
        this.options.prepare(item.input, signal),
      );
      if (signal.aborted) throw abortError(signal);
      return prepared;
    } catch (error) {
      this.#policy.prepared(item.group, false, this.options.clock.nowMs());
      // The error of an interrupted preparation is replaced by the cause of the abort.
      throw signal.aborted ? abortError(signal) : error;
    }
  }

  #compute(
    item: WorkItem<Input>,
    place: PlacedWork,
    prepared: Prepared<Ready>,
  ): Promise<Computed<Value>> {
    const { id, signal } = item;
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        if (this.#queue.remove(ready)) reject(abortError(signal));
      };
      const settle = (call: EngineCall<Value>, outcome: ItemOutcome<Value>): void => {
        signal.removeEventListener('abort', abandon);
        if (signal.aborted) reject(abortError(signal));
        else if (!outcome.ok) reject(asDomainError(outcome.error));
        else resolve({ value: outcome.value, execution: executionOf(ready, call) });
      };
      const ready = {
        ...place,
        ...prepared,
        id,
        item,
        readyMs: this.options.clock.nowMs(),
        settle,
      };
      signal.addEventListener('abort', abandon, { once: true });
      this.#queue.add(ready);
      this.#policy.prepared(item.group, true, ready.readyMs);
      this.#pump();
    });
  }

  /** Starts the engine calls that may start now. */
  #pump(): void {
    const { maxBatch, maxConcurrent, callMs } = this.options.limits();
    for (
      let head = this.#queue.head;
      head && this.#running < maxConcurrent;
      head = this.#queue.head
    ) {
      const { group, priority } = head.item;
      const realtime = priority === RequestPriority.REALTIME;
      const device = {
        ready: this.#queue.size,
        maxBatch,
        running: this.#running,
        group,
        realtime,
        callMs,
      };
      const nowMs = this.options.clock.nowMs();
      const untilMs = this.#policy.waitsUntilMs(device, nowMs);
      if (untilMs !== undefined) return this.#sleep(untilMs - nowMs);
      void this.#launch(this.#queue.take(maxBatch), maxBatch);
    }
    this.#policy.over();
    this.#wake.unsubscribe();
  }

  #sleep(delayMs: number): void {
    this.#wake.unsubscribe();
    this.#wake = this.scheduler.schedule(() => this.#pump(), delayMs);
  }

  async #launch(
    members: readonly ReadyItem<Ready, Value>[],
    maxBatch: number,
  ): Promise<void> {
    const { compute, clock, journal } = this.options;
    journal.collected(members, maxBatch);
    this.#running += 1;
    const group = members.map(({ value }) => value);
    const call = await engineCall(compute, group, clock);
    this.#running -= 1;
    this.#policy.ended(call.deviceMs);
    // Before the next call, which may crash this process.
    journal.done(members, call);
    this.#pump();
    members.forEach((member, index) => member.settle(call, call.outcomes[index]!));
  }
}

const executionOf = (
  { prepMs, readyMs }: { readonly prepMs: number; readonly readyMs: number },
  { startedMs, deviceMs, outcomes, batchId }: EngineCall<unknown>,
): CallExecution => ({
  prepMs,
  readyWaitMs: startedMs - readyMs,
  deviceMs,
  batchSize: outcomes.length,
  batchId,
});

/** Plain errors of an engine become `engine_failed`. */
const asDomainError = (error: Error): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('engine_failed', error.message, { cause: error });
