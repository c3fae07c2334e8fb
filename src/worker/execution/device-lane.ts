import { randomUUID } from 'node:crypto';
import { type MonotonicClock } from '../../core/shared/monotonic-clock.js';
import { type ItemOutcome } from '../engines/engine.js';

/** One engine call for a whole group. */
export type GroupCompute<Input, Value> = (group: readonly Input[]) => Promise<readonly ItemOutcome<Value>[]>;

export interface LaneResult<Value> {
  readonly batchId: string;
  readonly startedMs: number;
  readonly deviceMs: number;
  /** One per member, in order. */
  readonly outcomes: readonly ItemOutcome<Value>[];
}

/** The device: counts and times engine calls, and holds the engine to its contract of one outcome per member (D-05). */
export class DeviceLane<Input, Value> {
  readonly #compute: GroupCompute<Input, Value>;
  readonly #clock: MonotonicClock;
  #running = 0;

  constructor(compute: GroupCompute<Input, Value>, clock: MonotonicClock) {
    this.#compute = compute;
    this.#clock = clock;
  }

  /** Engine calls that run now. */
  get running(): number {
    return this.#running;
  }

  /** Never rejects. */
  async run(group: readonly Input[]): Promise<LaneResult<Value>> {
    const startedMs = this.#clock.nowMs();
    this.#running += 1;
    const outcomes = await this.#outcomes(group);
    this.#running -= 1;
    return { batchId: randomUUID(), startedMs, deviceMs: this.#clock.nowMs() - startedMs, outcomes };
  }

  async #outcomes(group: readonly Input[]): Promise<readonly ItemOutcome<Value>[]> {
    try {
      const outcomes = await this.#compute(group);
      if (outcomes.length === group.length) return outcomes;
      throw new Error(`The engine gave ${outcomes.length} outcomes for ${group.length} items.`);
    } catch (error) {
      return group.map(() => ({ ok: false, error: error as Error }));
    }
  }
}
