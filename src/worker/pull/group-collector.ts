import { BatchWindow } from '../../core/batching/batch-window.js';
import { type MonotonicClock } from '../../core/batching/window-timers.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';

interface Collecting<Job> {
  /**
   * A job that is queued, or arrives within `waitMs`; it blocks and never polls. It
   * rejects when the queue cannot be read.
   */
  readonly feed: { next(waitMs: number): Promise<Job | undefined> };
  readonly rules: Pick<
    NonNullable<WorkerSpec['pull']>,
    'batchTimeoutMs' | 'blockMs' | 'policy' | 'quietGapMs'
  > & {
    /** `MAX_BATCH_SIZE`: members of one group at most. */
    readonly maxSize: number;
  };
  /** What the device has room for, asked at every step. */
  readonly device: () => {
    /** Requests that may be taken now, besides those of the forming group. */
    readonly room: number;
    /** Nothing is on the device or on its way there. */
    readonly idle: boolean;
  };
  /** REALTIME, or waiting for longer than `queue.aging_ms`. */
  readonly hurried: (job: Job) => boolean;
  readonly clock: MonotonicClock;
}

/**
 * Collects one group: blocks for the first job, then takes what the batch window (D-02)
 * allows. A device that is busy needs no wait: later jobs are taken when they arrive,
 * prepared meanwhile, and merged in front of the device (D-24). A member that is REALTIME
 * or aged does not wait. Call it when there is room for at least one.
 * @returns `waitedMs`: from the first member to the close; `error`: what closed it early.
 *   Undefined when no job came within `blockMs`. @throws the feed's error, when it has
 *   collected nothing
 */
export async function collectGroup<Job>({ feed, rules, device, hurried, clock }: Collecting<Job>) {
  const { maxSize } = rules;
  const window = new BatchWindow({ ...rules, windowMs: rules.batchTimeoutMs });
  const jobs: Job[] = [];
  let isHurried = false;
  let firstMs = 0;
  let error: Error | undefined;
  const next = (waitMs: number) =>
    feed.next(waitMs).catch((caught: unknown) => {
      if (jobs.length === 0) throw caught;
      error = caught as Error;
      return undefined;
    });
  let job = await next(rules.blockMs);
  while (job !== undefined) {
    jobs.push(job);
    isHurried ||= hurried(job);
    const nowMs = clock.nowMs();
    if (jobs.length === 1) firstMs = nowMs;
    const { room, idle } = device();
    if (jobs.length >= Math.min(maxSize, room)) break;
    const { length: size } = jobs;
    const lane = { size, firstEnqueuedAtMs: firstMs, lastEnqueuedAtMs: nowMs };
    const offer = { free: room, idle, maxBatch: maxSize };
    const decision = isHurried ? window.flush(lane, offer) : window.decide(lane, offer, nowMs);
    // A group that may go still takes what is there already.
    job = await next(decision.go ? 0 : decision.wakeAtMs - nowMs);
  }
  if (jobs.length === 0) return undefined;
  return { jobs, waitedMs: clock.nowMs() - firstMs, error };
}
