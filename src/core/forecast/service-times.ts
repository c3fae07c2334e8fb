import { type LatencyPhases } from '../request/latency-phases.js';

/** What an engine call of so many requests took. */
interface ServedRequest {
  readonly phases: LatencyPhases;
  /** Requests in its engine call. */
  readonly batchSize?: number | undefined;
  /** As estimated when it was queued; absent: as usual. */
  readonly costMs?: number | undefined;
}

/** The last 50 or so requests count. */
const MEMORY = 0.98;
/** Below this spread of the group sizes, their effect on the time is unknown. */
const LEAST_VARIANCE = 0.05;
/**
 * Requests that cost much more or less than usual change the time by this factor at most.
 */
const LARGEST_FACTOR = 20;

/**
 * How long workers of one model compute a group: a fixed part and one per member,
 * fitted to the groups that were answered, and in proportion to the estimated cost
 * of the members.
 */
export class ServiceTimes {
  #weight = 0;
  #size = 0;
  #sizeSquare = 0;
  #ms = 0;
  #sizeMs = 0;
  #requests = 0;
  #cost = 0;
  #callMs = 0;

  /** False before the first answer. */
  get known(): boolean {
    return this.#requests > 0;
  }

  observe({ phases, batchSize = 1, costMs = this.#usualCostMs }: ServedRequest): void {
    if (phases.grpcMs === undefined) return;
    const ms = Math.max(0, phases.grpcMs - (phases.readyMs ?? 0));
    // Each member reports the group: together they count once.
    const weight = 1 / batchSize;
    this.#weight = this.#weight * MEMORY + weight;
    this.#size = this.#size * MEMORY + weight * batchSize;
    this.#sizeSquare = this.#sizeSquare * MEMORY + weight * batchSize ** 2;
    this.#ms = this.#ms * MEMORY + weight * ms;
    this.#sizeMs = this.#sizeMs * MEMORY + weight * batchSize * ms;
    this.#requests = this.#requests * MEMORY + 1;
    this.#cost = this.#cost * MEMORY + costMs;
    this.#callMs = this.#callMs * MEMORY + phases.grpcMs;
  }

  /** Milliseconds of a group with so many members, whose costs add up to `costMs`. */
  groupMs(size: number, costMs: number): number {
    return this.#sizedMs(size) * this.#factor(costMs / size);
  }

  /** Milliseconds from the lease to the answer, with the wait for the device. */
  callMs(costMs = this.#usualCostMs): number {
    return (this.#callMs / this.#requests) * this.#factor(costMs);
  }

  #factor(costMs: number): number {
    return Math.min(LARGEST_FACTOR, costMs / this.#usualCostMs);
  }

  get #usualCostMs(): number {
    return this.known ? this.#cost / this.#requests : 1;
  }

  #sizedMs(size: number): number {
    const [weight, meanSize, meanMs] = [
      this.#weight,
      this.#size / this.#weight,
      this.#ms / this.#weight,
    ];
    const variance = this.#sizeSquare / weight - meanSize ** 2;
    if (variance < LEAST_VARIANCE) return meanMs;
    const slope = (this.#sizeMs / weight - meanSize * meanMs) / variance;
    const perMember = Math.min(Math.max(0, slope), meanMs / meanSize);
    return meanMs + perMember * (size - meanSize);
  }
}
