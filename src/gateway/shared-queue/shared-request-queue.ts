import { Injectable } from '@nestjs/common';
import {
  type QueueBacklog,
  type QueueDepth,
  type QueueReports,
  type RequestQueuePort,
} from '../../core/dispatch/request-queue.port.js';
import { keyOf, type RequestView } from '../../core/dispatch/request-view.js';
import { type RequestKey, type RequestRef } from '../../core/request/request-key.js';
import { priorityLabel, RequestPriority } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';
import { AllWorkers } from './all-workers.js';
import { isPulled } from './queue-entry.js';
import { QueueListing } from './queue-listing.js';
import { RequestJobs } from './request-jobs.js';
import { SharedIntake } from './shared-intake.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { SharedRequests } from './shared-requests.js';

/**
 * The queue that gateways share, in Redis (D-19). While Redis is away it shows what this gateway knows of its own
 * requests.
 */
@Injectable()
export class SharedRequestQueue implements RequestQueuePort<WorkerTask, WorkerReply> {
  constructor(
    private readonly link: SharedQueueLink,
    private readonly intake: SharedIntake,
    private readonly requests: SharedRequests,
    private readonly listing: QueueListing,
    private readonly jobs: RequestJobs,
    private readonly workers: AllWorkers,
  ) {}

  /**
   * Not text generation, and no transcript that is sent segment by segment while the gateway has a worker to send it
   * to.
   */
  accepts({ model, payload }: ScheduledRequest<WorkerTask>): boolean {
    if (!this.link.enabled || !isPulled(payload)) return false;
    const isStreamed = payload.kind === 'transcribe' && payload.onSegment !== undefined;
    return !isStreamed || !this.workers.hasPushed(model);
  }

  isIdle(model: string): boolean {
    return this.#ownDepth(model) === undefined;
  }

  /**
   * Milliseconds until such a request would start; 0: at once, or unknown. From what this gateway has there, by
   * Little's law: requests of others wait and run in the same proportion.
   * @param meanMs from start to answer, of the model lately
   */
  startMs({ model, priority }: ScheduledRequest, meanMs: number): number {
    const depth = this.#ownDepth(model);
    if (depth === undefined || depth.running === 0) return 0;
    const waiting = depth.realtime + (priority === RequestPriority.BATCH ? depth.batch : 0);
    return (waiting / depth.running) * meanMs;
  }

  enqueue(request: ScheduledRequest<WorkerTask>, reports: QueueReports<WorkerReply>): undefined {
    this.intake.enter(request, reports);
  }

  async cancel(key: RequestKey, reason: CancelReason): Promise<void> {
    const shared = this.requests.get(key);
    if (shared) await this.requests.cancel(shared, reason);
    else this.intake.stop(key, reason);
  }

  async reprioritize(ref: RequestRef, priority: RequestPriority): Promise<boolean> {
    if (!this.link.enabled) return false;
    this.link.demand();
    try {
      const job = (await this.listing.find(ref.id, ref.tenant)) ?? (await this.listing.writtenByOthers(ref))[0];
      return job !== undefined && (await this.jobs.reprioritize(job.ref, priorityLabel(priority)));
    } catch (error) {
      throw this.link.failure(error);
    }
  }

  isLeased(key: RequestKey): boolean {
    return this.requests.get(key)?.leasedAtMs !== undefined;
  }

  backlog({ model }: ScheduledRequest<WorkerTask>): QueueBacklog {
    return { hasReady: this.workers.hasPulling(model), waiting: this.jobs.lastWaiting.get(model) ?? 0 };
  }

  async list(): Promise<readonly RequestView[]> {
    return (await this.link.look(() => this.listing.live(), [])).map(({ view }) => view);
  }

  async find(ref: RequestRef): Promise<RequestView | undefined> {
    const job = await this.link.look(() => this.listing.find(ref.id, ref.tenant), undefined);
    if (job) return job.view;
    const [written] = await this.link.look(() => this.listing.writtenByOthers(ref), []);
    return written?.view;
  }

  depths(): Promise<readonly QueueDepth[]> {
    return this.link.look(() => this.listing.depths(), this.requests.depths());
  }

  async cancelElsewhere(ref: RequestRef, reason: CancelReason): Promise<boolean> {
    if (!this.link.usable) return false;
    if (await this.jobs.stopKnown(ref.id, ref.tenant, reason)) return true;
    const written = await this.link.look(() => this.listing.writtenByOthers(ref), []);
    await Promise.all(written.map(job => this.jobs.stop(job.ref, reason)));
    return written.length > 0;
  }

  async cancelMatching(matches: (view: RequestView) => boolean, reason: CancelReason): Promise<RequestKey[]> {
    const found = (await this.link.look(() => this.listing.live(), [])).filter(({ view }) => matches(view));
    await Promise.all(found.map(({ ref }) => this.jobs.stop(ref, reason)));
    return found.map(({ view }) => keyOf(view));
  }

  /** What this gateway has there of a model. */
  #ownDepth(model: string): QueueDepth | undefined {
    return this.requests.depths().find(depth => depth.model === model);
  }
}
