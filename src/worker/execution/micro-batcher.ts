import { randomUUID } from 'node:crypto';
import { type EngineInfo, type ItemOutcome } from '@switchyard/engine-api/engine.js';
import {
  type CallEnvelope,
  type CallExecution,
  type CallGroup,
} from '@switchyard/worker-protocol/call.codec.js';
import { asyncScheduler, type SchedulerLike, Subscription } from 'rxjs';
import { type MonotonicClock } from '../../core/batching/window-timers.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { type InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { PrepStage } from '../lifecycle/prep-stage.js';
import { type PlacedWork, WorkQueue } from '../lifecycle/work-queue.js';
import { type BatchJournal, type EngineCall } from './batch-journal.js';
import { DevicePolicy } from './device-policy.js';

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
  readonly call: Pick<CallEnvelope, 'requestId' | 'priority' | 'group'>;
  readonly input: Input;
  /** Shared by the parts of one long request, which take turns with other requests. */
  readonly flow?: string;
  readonly sentence?: PlacedWork['sentence'];
  /** Aborted by the Cancel RPC, by the caller's disconnect or by shutdown. */
  readonly signal: AbortSignal;
}

export interface Computed<Value> {
  readonly value: Value;
  readonly execution: CallExecution;
}

type DeviceLimits = Pick<EngineInfo, 'maxBatch' | 'maxConcurrent' | 'callMs'>;

/** A prepared item that waits for the device, or is on it. */
interface ReadyItem<Ready, Value> extends PlacedWork {
  readonly value: Ready;
  /** Milliseconds of the preparation, without the wait before it. */
  readonly prepMs: number;
  readonly id: string;
  readonly group: CallGroup;
  readonly readyMs: number;
  /** Called when the engine call has ended. */
  settle(call: EngineCall<Value>, outcome: ItemOutcome<Value>): void;
}

/** One engine call for a whole group. */
type GroupCompute<Input, Value> = (
  group: readonly Input[],
) => Promise<readonly ItemOutcome<Value>[]>;

/**
 * Runs and times an engine call, and checks that the engine returns one outcome per
 * member (D-05). Never rejects.
 */
export async function engineCall<Input, Value>(
  compute: GroupCompute<Input, Value>,
  group: readonly Input[],
  clock: MonotonicClock,
): Promise<EngineCall<Value>> {
  const startedMs = clock.nowMs();
  const outcomes = await outcomesOf(compute, group);
  return {
    batchId: randomUUID(),
    startedMs,
    deviceMs: clock.nowMs() - startedMs,
    outcomes,
  };
}

async function outcomesOf<Input, Value>(
  compute: GroupCompute<Input, Value>,
  group: readonly Input[],
): Promise<readonly ItemOutcome<Value>[]> {
  try {
    const outcomes = await compute(group);
    if (outcomes.length === group.length) return outcomes;
    throw new Error(`The engine gave ${outcomes.length} outcomes for ${group.length} items.`);
  } catch (error) {
    return group.map(() => ({ ok: false, error: error as Error }));
  }
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
      /** Its limits are read at every decision: it knows them only after loading. */
      readonly engine: { readonly info: DeviceLimits };
      readonly spec: Pick<WorkerSpec, 'pull' | 'prepParallel'>;
      readonly clock: MonotonicClock;
      readonly journal: BatchJournal;
      /** Registers which requests the device computes. */
      readonly calls: Pick<InFlightCalls, 'onDevice'>;
    },
    private readonly scheduler: SchedulerLike = asyncScheduler,
  ) {
    this.#prep = new PrepStage(options.spec.prepParallel, options.clock);
  }

  /**
   * Resolves with this item's own value. Rejects with its own failure, or with the
   * abort's error once the work has stopped: at once while it waits, else when `prepare`
   * or the engine call returns.
   */
  async submit(item: WorkItem<Input>): Promise<Computed<Value>> {
    const { priority, group } = item.call;
    const place = {
      priority,
      sequence: this.#sequence++,
      flow: item.flow,
      sentence: item.sentence,
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

  async #prepare(item: WorkItem<Input>, place: PlacedWork) {
    const { signal } = item;
    try {
      const prepared = await this.#prep.run(place, signal, () =>
        this.options.prepare(item.input, signal),
      );
      if (signal.aborted) throw abortError(signal);
      return prepared;
    } catch (error) {
      this.#policy.prepared(item.call.group, false, this.options.clock.nowMs());
      // The error of an interrupted preparation is replaced by the cause of the abort.
      throw signal.aborted ? abortError(signal) : error;
    }
  }

  #compute(
    item: WorkItem<Input>,
    place: PlacedWork,
    prepared: Pick<ReadyItem<Ready, Value>, 'value' | 'prepMs'>,
  ): Promise<Computed<Value>> {
    const { call, signal } = item;
    const { requestId: id, group } = call;
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        if (this.#queue.remove(ready)) reject(abortError(signal));
      };
      const settle = (made: EngineCall<Value>, outcome: ItemOutcome<Value>): void => {
        signal.removeEventListener('abort', abandon);
        if (signal.aborted) reject(abortError(signal));
        else if (!outcome.ok) reject(asDomainError(outcome.error));
        else resolve({ value: outcome.value, execution: executionOf(ready, made) });
      };
      const ready = {
        ...place,
        ...prepared,
        id,
        group,
        readyMs: this.options.clock.nowMs(),
        settle,
      };
      signal.addEventListener('abort', abandon, { once: true });
      this.#queue.add(ready);
      this.#policy.prepared(group, true, ready.readyMs);
      this.#pump();
    });
  }

  /** Starts the engine calls that may start now. */
  #pump(): void {
    const { engine, spec } = this.options;
    const { maxBatch, maxConcurrent, callMs } = deviceLimits(engine.info, spec);
    while (this.#running < maxConcurrent) {
      const nowMs = this.options.clock.nowMs();
      const head = this.#queue.head(nowMs);
      if (!head) break;
      const { group, priority } = head;
      const realtime = priority === RequestPriority.REALTIME;
      const device = {
        ready: this.#queue.size,
        maxBatch,
        running: this.#running,
        group,
        realtime,
        callMs,
      };
      const untilMs = this.#policy.waitsUntilMs(device, nowMs);
      if (untilMs !== undefined) return this.#sleep(untilMs - nowMs);
      void this.#launch(this.#queue.take(maxBatch, nowMs), maxBatch);
    }
    this.#policy.over();
    this.#wake.unsubscribe();
  }

  #sleep(delayMs: number): void {
    this.#wake.unsubscribe();
    this.#wake = this.scheduler.schedule(() => this.#pump(), delayMs);
  }

  async #launch(members: readonly ReadyItem<Ready, Value>[], maxBatch: number): Promise<void> {
    const { compute, clock, journal } = this.options;
    journal.collected(members, maxBatch);
    this.#running += 1;
    const computed = this.#timed(members);
    const group = members.map(({ value }) => value);
    const call = await engineCall(compute, group, clock);
    this.#running -= 1;
    computed();
    this.#policy.ended(call.deviceMs);
    // Before the next call, which may crash this process.
    journal.done(members, call);
    this.#pump();
    members.forEach((member, index) => member.settle(call, call.outcomes[index]!));
  }

  /** Limits the call by the time limits of all members together (D-49). @returns ends the limit */
  #timed(members: readonly ReadyItem<Ready, Value>[]): () => void {
    const { clock, calls } = this.options;
    const sinceMs = clock.nowMs();
    const limitMs = members.reduce((sum, { group }) => sum + (group.timeLimitMs ?? 0), 0);
    return calls.onDevice(
      members.map(({ id }) => id),
      () => ({ onDevice: true, deviceMs: clock.nowMs() - sinceMs, limitMs }),
    );
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
