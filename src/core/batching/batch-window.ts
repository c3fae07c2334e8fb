/**
 * `adaptive`: D-02. `window`: the plain timer of seeds/scheduling "Flush Triggers", also while the device is busy.
 * `none`: whatever waits goes at once.
 */
export type BatchPolicy = 'adaptive' | 'window' | 'none';

/** Why a window let a group go. */
export type BatchReason = 'full' | 'window' | 'quiet' | 'ahead';

/**
 * Timers of Node count whole milliseconds from a clock they read once per turn, so a wake may come up to so much before the
 * instant it was asked for. A window that is due within less than this is due: it may close so much early, and is not held
 * open for one more tick.
 */
export const TIMER_RESOLUTION_MS = 1;

export interface BatchWindowOptions {
  readonly policy: BatchPolicy;
  /** Requests per group at most (8). */
  readonly maxSize: number;
  /** A group never waits longer than this after its first request was enqueued (50). */
  readonly windowMs: number;
  /** A group goes when no further request came for so long (5). */
  readonly quietGapMs: number;
}

/** A BATCH lane as the window sees it. */
export interface BatchLane {
  readonly waiting: number;
  readonly firstEnqueuedAtMs: number;
  readonly lastEnqueuedAtMs: number;
}

/** Capacity as the window sees it: request credits free for BATCH, maybe 0, whether the device has nothing to do, its largest group. */
export interface BatchOffer {
  readonly free: number;
  readonly idle: boolean;
  readonly maxBatch: number;
}

export type WindowDecision =
  | { readonly go: true; readonly count: number; readonly reason: BatchReason }
  | { readonly go: false; readonly wakeAtMs: number };

/**
 * May a BATCH group go now, and with how many? A pure function of lane, offer and time (D-02): it holds no requests and no
 * timer, so it cannot lose one or go stale. Idle device: full, window or quiet gap. Busy device: waiting would be for
 * nothing, so requests are sent ahead within the free credits and the worker merges them (D-24).
 */
export class BatchWindow {
  readonly #options: BatchWindowOptions;

  constructor(options: BatchWindowOptions) {
    this.#options = options;
  }

  decide(lane: BatchLane, offer: BatchOffer, nowMs: number): WindowDecision {
    const { policy } = this.#options;
    if (policy === 'none' || lane.waiting === 0 || offer.free === 0) return this.flush(lane, offer);
    const most = this.#most(offer);
    if (policy === 'adaptive' && !offer.idle) return { go: true, count: Math.min(lane.waiting, most), reason: 'ahead' };
    if (lane.waiting >= most) return { go: true, count: most, reason: 'full' };
    return this.#wait(lane, nowMs);
  }

  /** A window that closes at once: the policy `none`, and every policy during shutdown. */
  flush(lane: BatchLane, offer: BatchOffer): WindowDecision {
    if (lane.waiting === 0 || offer.free === 0) return { go: false, wakeAtMs: Infinity };
    const most = this.#most(offer);
    if (lane.waiting >= most) return { go: true, count: most, reason: 'full' };
    return { go: true, count: lane.waiting, reason: offer.idle ? 'window' : 'ahead' };
  }

  /** The group that waiting could reach. More credits than that, or fewer, change nothing about when to go. */
  #most(offer: BatchOffer): number {
    return Math.min(this.#options.maxSize, offer.maxBatch, offer.free);
  }

  #wait(lane: BatchLane, nowMs: number): WindowDecision {
    const { policy, windowMs, quietGapMs } = this.#options;
    const windowAtMs = lane.firstEnqueuedAtMs + windowMs;
    if (isDue(windowAtMs, nowMs)) return { go: true, count: lane.waiting, reason: 'window' };
    if (policy === 'window') return { go: false, wakeAtMs: windowAtMs };
    const quietAtMs = lane.lastEnqueuedAtMs + quietGapMs;
    if (isDue(quietAtMs, nowMs)) return { go: true, count: lane.waiting, reason: 'quiet' };
    return { go: false, wakeAtMs: Math.min(windowAtMs, quietAtMs) };
  }
}

/** An instant exactly one tick away is still to come: a timer of one tick does not wake before it. */
function isDue(atMs: number, nowMs: number): boolean {
  return nowMs > atMs - TIMER_RESOLUTION_MS;
}
