/** The device lane as the decision sees it. */
export interface LaneView {
  /** Items that could go now, at least 1. */
  readonly ready: number;
  readonly maxBatch: number;
  /** False while an engine call runs, and after one that left READY items: such a device never waits for a group. */
  readonly idle: boolean;
  /** Members of the head's group that are still arriving or being prepared. */
  readonly missing: number;
  /** When this wait began; undefined before its first decision. */
  readonly waitingSinceMs: number | undefined;
}

export type WaitDecision = { readonly go: true } | { readonly go: false; readonly wakeAtMs: number };

export interface GroupWaitOptions {
  /** Covers arrivals spread out by a busy machine; only a member that never comes costs it. */
  readonly floorMs?: number;
  /** Also the bound while no group has been seen yet. */
  readonly ceilingMs?: number;
}

const GO: WaitDecision = { go: true };
const WEIGHT = 0.2;
const SLACK = 2;

/**
 * May the device take what is READY, or does it wait for the rest of the head's group? (D-24: an idle device waits, bounded
 * by the usual preparation time; a busy one never does.) Pure: the caller tells the time and does the waiting.
 */
export class GroupWait {
  readonly #floorMs: number;
  readonly #ceilingMs: number;
  #usualMs: number | undefined;

  constructor({ floorMs = 50, ceilingMs = 250 }: GroupWaitOptions = {}) {
    this.#floorMs = floorMs;
    this.#ceilingMs = ceilingMs;
  }

  /** Twice the usual time from a group's first arrival until all are READY, within floor and ceiling. */
  get limitMs(): number {
    if (this.#usualMs === undefined) return this.#ceilingMs;
    return Math.min(this.#ceilingMs, Math.max(this.#floorMs, SLACK * this.#usualMs));
  }

  /** Learns how long a whole group took to be READY: its arrival, its waits for a preparation place, its preparation. */
  gathered(elapsedMs: number): void {
    this.#usualMs = this.#usualMs === undefined ? elapsedMs : this.#usualMs + WEIGHT * (elapsedMs - this.#usualMs);
  }

  decide(lane: LaneView, nowMs: number): WaitDecision {
    if (!lane.idle || lane.missing === 0 || lane.ready >= lane.maxBatch) return GO;
    const wakeAtMs = (lane.waitingSinceMs ?? nowMs) + this.limitMs;
    return nowMs >= wakeAtMs ? GO : { go: false, wakeAtMs };
  }
}
