import { Inject, Injectable } from '@nestjs/common';
import { keyOf, type RequestView } from '../../core/dispatch/request-view.js';
import { type RequestKey, type RequestRef } from '../../core/request/request-key.js';
import { priorityLabel, RequestPriority } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { type TaskRequest } from '../../worker-client/worker-task.js';
import {
  type QueueDepth,
  type QueueReports,
  type SchedulerQueue,
} from '../registry/request-queue.port.js';
import { AllWorkers } from './all-workers.js';
import { QueueListing } from './queue-listing.js';
import { RequestJobs } from './request-jobs.js';
import { RequestsElsewhere } from './requests-elsewhere.js';
import { SharedIntake } from './shared-intake.js';
import { SharedRequests } from './shared-requests.js';

/**
 * The queue that gateways share, in Redis (D-19). While Redis is away it shows what this
 * gateway knows of its own requests.
 */
@Injectable()
export class SharedRequestQueue implements SchedulerQueue {
  readonly isEmbedded = false;
  /** Requests of other gateways. */
  @Inject() readonly elsewhere!: RequestsElsewhere;

  constructor(
    private readonly clock: ProcessClock,
    private readonly intake: SharedIntake,
    private readonly requests: SharedRequests,
    private readonly listing: QueueListing,
    private readonly jobs: RequestJobs,
    private readonly workers: AllWorkers,
  ) {}

  /**
   * Not text generation, and no transcript that is sent segment by segment while the
   * gateway has a worker to send it to.
   */
  accepts({ model, payload }: TaskRequest): boolean {
    if (!this.enabled || payload.kind === 'generate') return false;
    const isStreamed = payload.kind === 'transcribe' && payload.onSegment !== undefined;
    return !isStreamed || !this.workers.hasPushed(model);
  }

  get enabled(): boolean {
    return this.jobs.link.enabled;
  }

  isIdle(model: string): boolean {
    return this.#ownDepth(model) === undefined;
  }

  /**
   * Milliseconds until such a request would start; 0: at once, or unknown. From
   * what this gateway has there, by Little's law: requests of others wait and run
   * in the same proportion.
   * @param meanMs from start to answer, of the model lately
   */
  startMs({ model, priority }: ScheduledRequest, meanMs: number): number {
    const depth = this.#ownDepth(model);
    if (depth === undefined || depth.running === 0) return 0;
    const waiting = depth.realtime + (priority === RequestPriority.BATCH ? depth.batch : 0);
    return (waiting / depth.running) * meanMs;
  }

  enqueue(request: TaskRequest, reports: QueueReports): undefined {
    this.intake.enter(request, reports);
  }

  async cancel(request: ScheduledRequest, reason: CancelReason): Promise<void> {
    const shared = this.requests.get(this.jobs.queues.ref(request.model, request));
    if (shared?.placed) await this.requests.cancel(shared, reason);
    else if (shared) this.intake.stop(shared, reason);
  }

  /**
   * Gives a waiting request another priority, whichever gateway put it into this
   * queue. Its enqueue time stays, and decides its place. Reported to the gateways
   * that have its callers.
   * @returns false when it does not wait here. @throws DomainError `queue_unavailable`
   */
  async reprioritize(ref: RequestRef, priority: RequestPriority): Promise<boolean> {
    if (!this.jobs.link.enabled) return false;
    this.jobs.link.demand();
    const { link, queues } = this.jobs;
    const job = await link.answered(this.listing.find(ref));
    return !!job && link.answered(queues.reprioritize(job.ref, priorityLabel(priority)));
  }

  /** Requests of the tenant go after those of others, and run alone, for so long (D-51). */
  async suspect(model: string, tenant: string | undefined, ms: number): Promise<void> {
    const { link, queues } = this.jobs;
    await link.look(() => queues.suspect(model, tenant, ms), undefined);
  }

  backlog({ model }: ScheduledRequest) {
    return {
      hasReady: this.workers.hasPulling(model),
      waiting: this.intake.lastWaiting.get(model) ?? 0,
    };
  }

  /** Waiting requests in dispatch order, then running ones. */
  async list(): Promise<readonly RequestView[]> {
    return (await this.jobs.link.look(() => this.listing.live(), [])).map(({ view }) => view);
  }

  /**
   * The same, for whom an absence says something. @throws DomainError `queue_unavailable`
   * when Redis does not say
   */
  async listed(): Promise<readonly RequestView[]> {
    const { link } = this.jobs;
    if (!link.enabled) return [];
    link.demand();
    return (await link.answered(this.listing.live())).map(({ view }) => view);
  }

  async find(ref: RequestRef): Promise<RequestView | undefined> {
    return (await this.jobs.link.look(() => this.listing.find(ref), undefined))?.view;
  }

  /** One entry per configured model. */
  depths(): Promise<readonly QueueDepth[]> {
    return this.jobs.link.look(() => this.listing.depths(), this.#ownDepths());
  }

  /**
   * Stops a request that another gateway put into this queue. False: there is none.
   * @throws DomainError `queue_unavailable` when Redis does not say
   */
  async cancelElsewhere(ref: RequestRef, reason: CancelReason): Promise<boolean> {
    if (!this.jobs.link.usable) return false;
    if (await this.jobs.stopKnown(ref, reason)) return true;
    const written = await this.jobs.link.look(() => this.listing.otherwiseNamed(ref), []);
    return this.jobs.stopEach(
      written.map(job => job.ref),
      reason,
    );
  }

  /** Stops what other gateways put into this queue and `matches`. */
  async cancelMatching(
    matches: (view: RequestView) => boolean,
    reason: CancelReason,
  ): Promise<RequestKey[]> {
    const found = (await this.jobs.link.look(() => this.listing.live(), [])).filter(({ view }) =>
      matches(view),
    );
    const stopped = await Promise.all(found.map(({ ref }) => this.jobs.stopped(ref, reason)));
    return found.filter((_, at) => stopped[at]).map(({ view }) => keyOf(view));
  }

  #ownDepth(model: string): QueueDepth | undefined {
    return this.#ownDepths().find(depth => depth.model === model);
  }

  /** What this gateway knows by itself; models without a request are absent. */
  #ownDepths(): QueueDepth[] {
    const nowMs = this.clock.nowMs();
    const accepted = Map.groupBy(
      this.requests.all().filter(({ placed }) => placed),
      ({ request }) => request.model,
    );
    return Array.from(accepted, ([model, requests]) => {
      const waiting = requests.filter(({ isWaiting }) => isWaiting);
      const realtime = waiting.filter(
        ({ request }) => request.priority === RequestPriority.REALTIME,
      ).length;
      const running = requests.length - waiting.length;
      const oldest = waiting[0]?.request;
      const oldestWaitMs = oldest && nowMs - oldest.enqueuedAtMs;
      return {
        model,
        realtime,
        batch: waiting.length - realtime,
        running,
        oldestWaitMs,
      };
    });
  }
}
