import { blended } from '../../core/shared/blended.js';

/** State of the device for a decision. */
export interface LaneView {
  /** Items that could go now, at least 1. */
  readonly ready: number;
  readonly maxBatch: number;
  /** False while an engine call runs, and after one that left READY items: such a device never waits for a group. */
  readonly idle: boolean;
  /** An engine call has just left READY items. */
  readonly freed: boolean;
  /** Members of the head's group that are still arriving or being prepared. */
  readonly missing: number;
  /** Items of any group that are being prepared, and would be computed with those that are READY. */
  readonly preparing: number;
  /** The first item to go is REALTIME: it waits for its own group only. */
  readonly realtime: boolean;
  /** When this wait began; undefined before its first decision. */
  readonly waitingSinceMs: number | undefined;
}

export type WaitDecision = { readonly go: true } | { readonly go: false; readonly wakeAtMs: number };

export interface GroupWaitOptions {
  /** Allows for arrivals delayed by a busy machine; only a member that never comes costs this time. */
  readonly floorMs?: number;
  /** For a device whose calls are short; one that is slower may wait for half of its usual time. */
  readonly ceilingMs?: number;
}

const GO: WaitDecision = { go: true };
const GROUP_WEIGHT = 0.2;
const SLACK = 2;
/** Longest wait for a group, and for items of other groups, as a share of the usual device time. */
const GROUP_SHARE = 0.5;
const OTHERS_SHARE = 0.25;

/**
 * Decides whether the device takes what is READY or waits for more (D-24). An idle device waits for the rest of the
 * first item's group, bounded by the usual preparation time. A device whose calls take so long that it pays also waits
 * for what else is being prepared: uploads that came together would otherwise be computed one after the other. Pure:
 * the caller passes the time and does the waiting.
 */
export class GroupWait {
  readonly #floorMs: number;
  readonly #ceilingMs: number;
  #usualMs: number | undefined;
  #deviceMs: number | undefined;

  constructor({ floorMs = 50, ceilingMs = 250 }: GroupWaitOptions = {}) {
    this.#floorMs = floorMs;
    this.#ceilingMs = ceilingMs;
  }

  /** Twice the usual time from a group's first arrival until all are READY, within floor and ceiling. */
  get limitMs(): number {
    const ceilingMs = Math.max(this.#ceilingMs, GROUP_SHARE * (this.#deviceMs ?? 0));
    if (this.#usualMs === undefined) return ceilingMs;
    return Math.min(ceilingMs, Math.max(this.#floorMs, SLACK * this.#usualMs));
  }

  /** For items of other groups; 0 for a device that is fast. */
  get othersMs(): number {
    const worthMs = OTHERS_SHARE * (this.#deviceMs ?? 0);
    return worthMs < this.#floorMs ? 0 : worthMs;
  }

  /** Before the first engine call: what the engine expects of one. */
  expect(callMs: number): void {
    this.#deviceMs ??= callMs;
  }

  /** An engine call took so long. */
  computed(deviceMs: number): void {
    this.#deviceMs = blended(this.#deviceMs, deviceMs, WEIGHT);
  }

  /**
   * Learns how long a whole group took to be READY: its arrival, its waits for a preparation place, its preparation.
   */
  gathered(elapsedMs: number): void {
    this.#usualMs = blended(this.#usualMs, elapsedMs, GROUP_WEIGHT);
  }

  decide(lane: LaneView, nowMs: number): WaitDecision {
    if (lane.freed || lane.ready >= lane.maxBatch) return GO;
    const groupMs = lane.idle && lane.missing > 0 ? this.limitMs : 0;
    const othersMs = lane.preparing > 0 && !lane.realtime ? this.othersMs : 0;
    const wakeAtMs = (lane.waitingSinceMs ?? nowMs) + Math.max(groupMs, othersMs);
    return nowMs >= wakeAtMs ? GO : { go: false, wakeAtMs };
  }
}

/** State of the device for a decision. */
export interface ReturnView {
  /** Items that could go now, at least 1. */
  readonly ready: number;
  readonly maxBatch: number;
  /** Engine calls that run now. */
  readonly running: number;
  /** The worker takes no new requests: no caller can come back. */
  readonly draining: boolean;
}

export interface ReturnWaitOptions {
  /** Share of answered callers that must usually return soon (0.8); Infinity: never wait. */
  readonly leastShare?: number;
}

/** An engine call that ended. */
export interface EndedCall {
  /** Callers that get an answer. */
  readonly answered: number;
  readonly deviceMs: number;
  /** A whole group was READY before any caller could return. */
  readonly full: boolean;
}

/** The latest engine call that ended, and the returns since. */
interface Awaited {
  readonly answered: number;
  readonly atMs: number;
  /** Later returns do not count, and are not waited for. */
  readonly untilMs: number;
  returned: number;
  /** Sum over `returned`, each from the answer to READY. */
  returnMs: number;
  /** From the answer to the latest of them. */
  lastMs: number;
}

/** Weight of a new call: 2 calls without returns end the waiting, 2 to 10 with returns begin it. */
const WEIGHT = 0.15;
/** Longest wait, as a share of the usual device time: at first, and for callers that are known to need longer. */
const FIRST_WAIT = 0.5;
const MOST_WAIT = 0.9;
/** What the latest of the callers usually takes, times this, is waited for. */
const LAST_SLACK = 1.5;

/**
 * Decides whether a free device waits for the callers it has just answered (D-24). Callers in a closed loop return at
 * once, so the next call is fuller; independent callers do not. Which of the two applies is learned: in a steady random
 * stream, at most half as many requests arrive within half a device time as an engine call answers, whatever the load,
 * because calls begin at least one device time apart. While the device waits they begin further apart, so a longer
 * wait finds no more of them: it may last as long as the latest caller usually takes. Pure: the caller passes the time
 * and does the waiting.
 */
export class ReturnWait {
  readonly #leastShare: number;
  #deviceMs: number | undefined;
  #latest: Awaited | undefined;
  // Weighted sums over the calls so far; their quotients are the usual values. They start as for independent callers.
  #answered = 1;
  #returned = 0.5;
  #returnMs = 0;
  #lastMs: number | undefined;

  constructor({ leastShare = 0.8 }: ReturnWaitOptions = {}) {
    this.#leastShare = leastShare;
  }

  /** The usual share of answered callers that are matched by new READY items in time: 0 to 1. */
  get share(): number {
    return this.#returned / this.#answered;
  }

  /**
   * A call that left a full group behind is not learned from: what becomes READY then was held back by the worker's
   * slots, and would look like returns.
   */
  ended({ answered, deviceMs, full }: EndedCall, nowMs: number): void {
    this.#learn();
    this.#deviceMs = blended(this.#deviceMs, deviceMs, WEIGHT);
    const untilMs = nowMs + this.#mostMs(this.#deviceMs);
    this.#latest = full ? undefined : { answered, atMs: nowMs, untilMs, returned: 0, returnMs: 0, lastMs: 0 };
  }

  /** An item became READY. Callers are not known by name, so each one counts as a return. */
  ready(nowMs: number): void {
    const call = this.#latest;
    if (call === undefined || nowMs > call.untilMs || call.returned === call.answered) return;
    call.returned += 1;
    call.lastMs = nowMs - call.atMs;
    call.returnMs += call.lastMs;
  }

  decide({ ready, maxBatch, running, draining }: ReturnView, nowMs: number): WaitDecision {
    const call = this.#latest;
    if (call === undefined || ready >= maxBatch || running > 0 || draining) return GO;
    const missing = call.answered - call.returned;
    if (missing === 0 || !this.#waits) return GO;
    const worthMs = this.#worthMs(ready + missing, maxBatch);
    if (worthMs <= this.#returnMs / this.#returned) return GO;
    const wakeAtMs = Math.min(call.untilMs, call.atMs + worthMs);
    return nowMs >= wakeAtMs ? GO : { go: false, wakeAtMs };
  }

  /** Callers usually return. */
  get #waits(): boolean {
    return this.share >= this.#leastShare;
  }

  #mostMs(deviceMs: number): number {
    const lastMs = this.#waits ? LAST_SLACK * (this.#lastMs ?? 0) : 0;
    return Math.min(MOST_WAIT * deviceMs, Math.max(FIRST_WAIT * deviceMs, lastMs));
  }

  /**
   * A wait shorter than this serves more: `callers` in two calls that take turns are `callers / 2D` per millisecond,
   * waiting makes it `min(callers, maxBatch) / (D + wait)`. One whole device time when all fit into one call.
   */
  #worthMs(callers: number, maxBatch: number): number {
    return (this.#deviceMs ?? 0) * ((2 * Math.min(callers, maxBatch)) / callers - 1);
  }

  #learn(): void {
    const { answered = 0, returned = 0, returnMs = 0, lastMs = 0 } = this.#latest ?? {};
    if (answered === 0) return;
    // A later one counts at once: a caller that is not waited for now counts as an independent one next time.
    if (returned > 0) this.#lastMs = Math.max(lastMs, blended(this.#lastMs, lastMs, WEIGHT));
    this.#answered = blended(this.#answered, answered, WEIGHT);
    this.#returned = blended(this.#returned, returned, WEIGHT);
    this.#returnMs = blended(this.#returnMs, returnMs, WEIGHT);
  }
}
