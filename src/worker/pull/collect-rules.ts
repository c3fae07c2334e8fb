/** How groups are taken from the queue. Milliseconds. */
export interface CollectRules {
  /** `MAX_BATCH_SIZE`: members of one group at most. */
  readonly maxSize: number;
  /** `BATCH_TIMEOUT`: longest wait for stragglers, from the first member on. */
  readonly timeoutMs: number;
  /** `QUEUE_BRPOP_TIMEOUT`: longest wait for a first member, then the loop looks around. */
  readonly blockMs: number;
  /** `batching.policy` (D-02). */
  readonly policy: 'adaptive' | 'window' | 'none';
  /** `batching.quiet_gap_ms`: adaptive, an idle device: nobody came for this long, so nobody is coming. */
  readonly quietGapMs: number;
}

/** A group while it is collected; instants on the collector's clock. */
export interface FormingGroup {
  readonly size: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** A member is REALTIME or aged: it waits for nobody (D-02). */
  readonly hurried: boolean;
}

/** The device as the collector sees it. */
export interface DeviceOutlook {
  /** Requests that may be taken now, the forming group's aside. */
  readonly room: number;
  /** Nothing is on the device or on its way there. */
  readonly idle: boolean;
}

/**
 * How long to wait for one more member; 0: take what is there already; undefined: the group is closed.
 *
 * - `window` is the seed to the letter: up to `timeoutMs` from the first member, whatever the device does.
 * - `adaptive` waits with an idle device only, and there no longer than a quiet gap after each arrival. A busy one needs no waiting:
 *   what comes later is taken when it comes, prepared beside the device, and merged by it (D-24).
 * - `none` takes what is there.
 */
export function stragglerWaitMs(
  group: FormingGroup,
  { maxSize, timeoutMs, policy, quietGapMs }: CollectRules,
  { device, nowMs }: { readonly device: DeviceOutlook; readonly nowMs: number },
): number | undefined {
  if (group.size >= maxSize || device.room <= 0) return undefined;
  if (group.hurried || policy === 'none') return 0;
  const leftMs = Math.max(0, group.firstMs + timeoutMs - nowMs);
  if (policy === 'window') return leftMs;
  return device.idle ? Math.min(leftMs, Math.max(0, group.lastMs + quietGapMs - nowMs)) : 0;
}
