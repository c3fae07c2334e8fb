/**
 * Node's timers count whole milliseconds from a clock that is read once per turn, so a
 * wake may come this much early. A window that is due within less than this is due: it
 * may close this much early instead of one tick late.
 */
export const TIMER_RESOLUTION_MS = 1;

/** A BATCH lane as the window sees it. */
interface BatchLane {
  /** Waiting requests. */
  readonly size: number;
  readonly firstEnqueuedAtMs: number;
  readonly lastEnqueuedAtMs: number;
}

/**
 * Capacity as the window sees it: free request credits for BATCH, whether the device is
 * idle, its largest group.
 */
interface BatchOffer {
  readonly free: number;
  readonly idle: boolean;
  readonly maxBatch: number;
}

type WindowDecision =
  | {
      readonly go: true;
      readonly count: number;
      readonly reason: 'full' | 'window' | 'quiet' | 'ahead';
    }
  | { readonly go: false; readonly wakeAtMs: number };

/**
 * Decides whether a BATCH group is sent now, and its size. A pure function of lane, offer
 * and time (D-02), without requests or timers. Idle device: full, window or quiet gap.
 * Busy device: waiting has no benefit, so requests are sent ahead within the free
 * credits, and the worker merges them (D-24).
 */
export class BatchWindow {
  constructor(
    private readonly options: {
      /**
       * `adaptive`: D-02. `window`: a plain timer, also while the device is busy. `none`:
       * waiting requests are sent at once.
       */
      readonly policy: 'adaptive' | 'window' | 'none';
      /** Requests per group at most (8). */
      readonly maxSize: number;
      /** A group never waits longer than this after its first request was enqueued (50). */
      readonly windowMs: number;
      /** A group is sent when no further request arrived for this long (5). */
      readonly quietGapMs: number;
    },
  ) {}

  decide(lane: BatchLane, offer: BatchOffer, nowMs: number): WindowDecision {
    const { policy } = this.options;
    if (policy === 'none' || lane.size === 0 || offer.free === 0) return this.flush(lane, offer);
    const most = this.#most(offer);
    if (policy === 'adaptive' && !offer.idle)
      return { go: true, count: Math.min(lane.size, most), reason: 'ahead' };
    if (lane.size >= most) return { go: true, count: most, reason: 'full' };
    return this.#wait(lane, nowMs);
  }

  /**
   * A window that closes at once: the policy `none`, and every policy during shutdown.
   */
  flush(lane: BatchLane, offer: BatchOffer): WindowDecision {
    if (lane.size === 0 || offer.free === 0) return { go: false, wakeAtMs: Infinity };
    const most = this.#most(offer);
    if (lane.size >= most) return { go: true, count: most, reason: 'full' };
    return { go: true, count: lane.size, reason: offer.idle ? 'window' : 'ahead' };
  }

  /** The largest group that waiting can reach. */
  #most(offer: BatchOffer): number {
    return Math.min(this.options.maxSize, offer.maxBatch, offer.free);
  }

  #wait(lane: BatchLane, nowMs: number): WindowDecision {
    const { policy, windowMs, quietGapMs } = this.options;
    const windowAtMs = lane.firstEnqueuedAtMs + windowMs;
    if (isDue(windowAtMs, nowMs)) return { go: true, count: lane.size, reason: 'window' };
    if (policy === 'window') return { go: false, wakeAtMs: windowAtMs };
    const quietAtMs = lane.lastEnqueuedAtMs + quietGapMs;
    if (isDue(quietAtMs, nowMs)) return { go: true, count: lane.size, reason: 'quiet' };
    return { go: false, wakeAtMs: Math.min(windowAtMs, quietAtMs) };
  }
}

/**
 * A time exactly one tick ahead is not due: a timer of one tick does not wake before it.
 */
function isDue(atMs: number, nowMs: number): boolean {
  return nowMs > atMs - TIMER_RESOLUTION_MS;
}
