import { type LatencyPhases } from '../request/latency-phases.js';
import { FadingMean, TimeLine } from './means.js';

/** Below this spread of the group sizes, their effect on the time is unknown. */
const LEAST_VARIANCE = 0.05;

/**
 * Requests that cost much more or less than usual change the time by this factor at most.
 */
const LARGEST_FACTOR = 20;

/**
 * How long the workers of one model compute a group: a fixed part and one per member,
 * fitted to the groups that were answered, and in proportion to the estimated cost
 * of the members.
 */
export class GroupTimes {
  /** Milliseconds of engine calls, as a line over their number of members. */
  readonly #group = new TimeLine();
  /** Device milliseconds of one request, on average. */
  readonly #cost = new FadingMean();
  readonly #callMs = new FadingMean();

  /** False before the first answer. */
  get known(): boolean {
    return this.#callMs.value !== undefined;
  }

  observe({
    phases,
    batchSize = 1,
    costMs = this.#usualCostMs,
  }: {
    readonly phases: LatencyPhases;
    /** Requests in its engine call. */
    readonly batchSize?: number | undefined;
    /** Device milliseconds, as measured or else as estimated; absent: the average. */
    readonly costMs?: number | undefined;
  }): void {
    if (phases.grpcMs === undefined) return;
    const ms = Math.max(0, phases.grpcMs - (phases.readyMs ?? 0));
    // Each member reports the group: together they count once.
    this.#group.add(batchSize, ms, 1 / batchSize);
    this.#cost.add(costMs);
    this.#callMs.add(phases.grpcMs);
  }

  /** Milliseconds of a group with so many members, whose costs add up to `costMs`. */
  groupMs(size: number, costMs: number): number {
    return this.#group.at(size, LEAST_VARIANCE) * this.#factor(costMs / size);
  }

  /** Milliseconds from the lease to the answer, with the wait for the device; NaN: unknown. */
  callMs(costMs = this.#usualCostMs): number {
    return (this.#callMs.value ?? NaN) * this.#factor(costMs);
  }

  #factor(costMs: number): number {
    return Math.min(LARGEST_FACTOR, costMs / this.#usualCostMs);
  }

  get #usualCostMs(): number {
    return this.#cost.value ?? 1;
  }
}
