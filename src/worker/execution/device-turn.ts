import {
  type EndedCall,
  GroupWait,
  type ReturnView,
  ReturnWait,
  type ReturnWaitOptions,
  type WaitDecision,
} from './return-wait.js';

/** The device and its queue, when an item is READY and a call could start. */
export interface DeviceView extends ReturnView {
  /** Members of the head's group that are still arriving or being prepared. */
  readonly missing: number;
  /** Items of any group that are being prepared. */
  readonly preparing: number;
  /** The first item to go is REALTIME: it waits for callers of its kind only. */
  readonly realtime: boolean;
  /** What the engine expects an engine call to take; absent: it does not know. */
  readonly callMs?: number;
}

export interface DeviceTurnOptions {
  readonly groups?: GroupWait;
  readonly returns?: ReturnWaitOptions | undefined;
}

/** An engine call that ended, and how many of those it answered are REALTIME. */
export interface EndedTurn extends EndedCall {
  readonly urgent: number;
}

/**
 * Decides whether the next engine call may start now (D-24). Two reasons to hold it: the device waits for the group of
 * the first item and for what else is being prepared, and for callers that usually return. A REALTIME item waits for
 * REALTIME callers only: together they are answered after one call instead of two that take turns. A turn ends when the
 * device has taken what is READY, or nothing is READY.
 */
export class DeviceTurn {
  readonly #groups: GroupWait;
  readonly #returns: ReturnWait;
  readonly #urgentReturns: ReturnWait;
  /** An engine call ended and left READY items: these never wait for the rest of their group. */
  #freed = false;
  #waitingSinceMs: number | undefined;

  constructor({ groups = new GroupWait(), returns }: DeviceTurnOptions = {}) {
    this.#groups = groups;
    this.#returns = new ReturnWait(returns);
    this.#urgentReturns = new ReturnWait(returns);
  }

  ended({ urgent, ...call }: EndedTurn, nowMs: number): void {
    this.#freed = true;
    this.#groups.computed(call.deviceMs);
    this.#returns.ended(call, nowMs);
    this.#urgentReturns.ended({ ...call, answered: urgent }, nowMs);
  }

  /** An item became READY; `gatheredMs` is how long its group took, when it was the last one missing. */
  ready(nowMs: number, gatheredMs: number | undefined, realtime = false): void {
    this.#returns.ready(nowMs);
    if (realtime) this.#urgentReturns.ready(nowMs);
    if (gatheredMs !== undefined) this.#groups.gathered(gatheredMs);
  }

  decide(device: DeviceView, nowMs: number): WaitDecision {
    const decision = this.#decide(device, nowMs);
    if (!decision.go) this.#waitingSinceMs ??= nowMs;
    return decision;
  }

  /** Nothing is held any more: the device took what was READY, or nothing is. */
  over(): void {
    this.#freed = false;
    this.#waitingSinceMs = undefined;
  }

  #decide(device: DeviceView, nowMs: number): WaitDecision {
    if (device.callMs !== undefined) this.#groups.expect(device.callMs);
    const freed = this.#freed;
    const idle = !freed && device.running === 0;
    const lane = { ...device, idle, freed, waitingSinceMs: this.#waitingSinceMs };
    const decision = this.#groups.decide(lane, nowMs);
    if (!decision.go) return decision;
    return (device.realtime ? this.#urgentReturns : this.#returns).decide(device, nowMs);
  }
}
