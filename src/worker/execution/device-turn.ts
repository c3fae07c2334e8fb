import { type EndedCall, GroupWait, type ReturnView, ReturnWait, type WaitDecision } from './return-wait.js';

/** The device and its queue, when an item is READY and a call could start. */
export interface DeviceView extends ReturnView {
  /** Members of the head's group that are still arriving or being prepared. */
  readonly missing: number;
}

export interface DeviceTurnOptions {
  readonly groups?: GroupWait;
  readonly returns?: ReturnWait;
}

/**
 * Decides whether the next engine call may start now (D-24). Two reasons to hold it: an idle device waits for the group
 * of the first item, and a free one for callers that usually return. A turn ends when the device has taken what is
 * READY, or nothing is READY.
 */
export class DeviceTurn {
  readonly #groups: GroupWait;
  readonly #returns: ReturnWait;
  /** An engine call ended and left READY items: these never wait for the rest of their group. */
  #freed = false;
  #waitingSinceMs: number | undefined;

  constructor({ groups = new GroupWait(), returns = new ReturnWait() }: DeviceTurnOptions = {}) {
    this.#groups = groups;
    this.#returns = returns;
  }

  ended(call: EndedCall, nowMs: number): void {
    this.#freed = true;
    this.#returns.ended(call, nowMs);
  }

  /** An item became READY; `gatheredMs` is how long its group took, when it was the last one missing. */
  ready(nowMs: number, gatheredMs: number | undefined): void {
    this.#returns.ready(nowMs);
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
    const { ready, maxBatch, missing, running } = device;
    const idle = !this.#freed && running === 0;
    const decision = this.#groups.decide(
      { ready, maxBatch, idle, missing, waitingSinceMs: this.#waitingSinceMs },
      nowMs,
    );
    return decision.go ? this.#returns.decide(device, nowMs) : decision;
  }
}
