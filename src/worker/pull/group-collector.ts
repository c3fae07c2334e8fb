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
import { type CollectRules, type DeviceOutlook, type FormingGroup, stragglerWaitMs } from './collect-rules.js';

/** Where jobs come from, one at a time. */
export interface JobFeed<Job> {
  /**
   * One job: at once when one is there, else as soon as one comes within `waitMs`. Completes without a value when none came.
   * It waits to be told of arrivals and never asks in a loop. What it took it gives: it is never left early.
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

  /** One group; completes empty when nobody came within `blockMs`. Subscribe when there is room for one at least. */
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
    // Nobody came within a wait that was as long as it may be.
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
