import {
  asyncScheduler,
  defaultIfEmpty,
  defer,
  EMPTY,
  expand,
  filter,
  last,
  map,
  type Observable,
  type SchedulerLike,
  tap,
} from 'rxjs';

/** How groups are taken from the queue. Milliseconds. */
export interface CollectRules {
  /** `MAX_BATCH_SIZE`: members of one group at most. */
  readonly maxSize: number;
  /** `BATCH_TIMEOUT`: longest wait for stragglers, from the first member on. */
  readonly timeoutMs: number;
  /** `QUEUE_BRPOP_TIMEOUT`: longest wait for a first member. */
  readonly blockMs: number;
  /** `batching.policy` (D-02). */
  readonly policy: 'adaptive' | 'window' | 'none';
  /** `batching.quiet_gap_ms`: with `adaptive` and an idle device, a gap this long closes the group. */
  readonly quietGapMs: number;
}

/** A group while it is collected; instants on the collector's clock. */
export interface FormingGroup {
  readonly size: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** A member is REALTIME or aged: the group does not wait (D-02). */
  readonly hurried: boolean;
}

/** The device as the collector sees it. */
export interface DeviceOutlook {
  /** Requests that may be taken now, besides those of the forming group. */
  readonly room: number;
  /** Nothing is on the device or on its way there. */
  readonly idle: boolean;
}

/**
 * How long to wait for one more member; 0: take what is there already; undefined: the group is closed.
 *
 * - `window` waits up to `timeoutMs` from the first member, whatever the device does.
 * - `adaptive` waits for an idle device only, and no longer than a quiet gap after each arrival. With a busy device
 *   no wait is needed: later jobs are taken when they arrive, prepared meanwhile, and merged in front of the device
 *   (D-24).
 * - `none` takes what is queued.
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

/** Where jobs come from, one at a time. */
export interface JobFeed<Job> {
  /**
   * One job: at once when one is queued, else as soon as one arrives within `waitMs`. Completes without a value when
   * none came. It blocks until a job arrives and never polls. Subscribers must not unsubscribe early, or a taken job is
   * lost.
   */
  next(waitMs: number): Observable<Job>;
}

export interface CollectorOptions<Job> {
  readonly feed: JobFeed<Job>;
  readonly rules: CollectRules;
  /** Asked at every step; `room` without those of the group that is being collected. */
  readonly device: () => DeviceOutlook;
  /** REALTIME, or waiting for longer than `queue.aging_ms`. */
  readonly hurried: (job: Job) => boolean;
}

export interface CollectedGroup<Job> {
  readonly jobs: readonly Job[];
  /** From the first member to the close. */
  readonly waitedMs: number;
}

/** Step by step: block for the first job, drain what is there, wait for stragglers. */
export class GroupCollector<Job> {
  readonly #options: CollectorOptions<Job>;
  readonly #scheduler: SchedulerLike;

  constructor(options: CollectorOptions<Job>, scheduler: SchedulerLike = asyncScheduler) {
    this.#options = options;
    this.#scheduler = scheduler;
  }

  /** One group; completes empty when no job came within `blockMs`. Subscribe when there is room for at least one. */
  collect(): Observable<CollectedGroup<Job>> {
    return defer(() => {
      const group = new Forming<Job>();
      return this.#step(group).pipe(
        expand(() => this.#step(group)),
        last(),
        filter(() => group.size > 0),
        map(() => ({ jobs: group.jobs, waitedMs: this.#scheduler.now() - group.firstMs })),
      );
    });
  }

  /** Asks for one more member; completes at once when the group is closed. */
  #step(group: Forming<Job>): Observable<Job | undefined> {
    const waitMs = this.#waitMs(group);
    if (waitMs === undefined) return EMPTY;
    return this.#options.feed.next(waitMs).pipe(
      defaultIfEmpty(undefined),
      tap(job => this.#took(group, job)),
    );
  }

  #waitMs(group: Forming<Job>): number | undefined {
    const { rules, device } = this.#options;
    if (group.closed) return undefined;
    if (group.size === 0) return rules.blockMs;
    const { room, idle } = device();
    const left = { room: room - group.size, idle };
    return stragglerWaitMs(group, rules, { device: left, nowMs: this.#scheduler.now() });
  }

  #took(group: Forming<Job>, job: Job | undefined): void {
    // No job came within the longest wait allowed.
    if (job === undefined) group.closed = true;
    else group.add(job, this.#options.hurried(job), this.#scheduler.now());
  }
}

class Forming<Job> implements FormingGroup {
  readonly jobs: Job[] = [];
  firstMs = 0;
  lastMs = 0;
  hurried = false;
  closed = false;

  get size(): number {
    return this.jobs.length;
  }

  add(job: Job, hurried: boolean, nowMs: number): void {
    if (this.size === 0) this.firstMs = nowMs;
    this.lastMs = nowMs;
    this.hurried ||= hurried;
    this.jobs.push(job);
  }
}
