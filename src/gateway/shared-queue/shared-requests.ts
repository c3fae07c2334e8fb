import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Subscription } from 'rxjs';
import {
  decodeJobError,
  type JobCompleted,
  type JobValue,
  type LoadedResult,
} from '../../contracts/queue-jobs/job-result.js';
import { type StopReason } from '../../contracts/queue-jobs/queue-messages.js';
import { type QueueDepth, type QueueEnd } from '../../core/dispatch/request-queue.port.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { priorityLevel, RequestPriority } from '../../core/request/request-priority.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerReply } from '../worker-pool/worker-task.js';
import { type JobEvent, JobWatch } from './job-watch.js';
import { PayloadBlobs } from './payload-blobs.js';
import { toWorkerReply } from './queue-entry.js';
import { RequestJobs } from './request-jobs.js';
import { type SharedRequest } from './shared-request.js';
import { lostMidway, SpeechFeed } from './speech-relay.js';

/**
 * Accepted requests of this gateway whose jobs are in Redis. Follows each job, and reports how its request ends.
 */
@Injectable()
export class SharedRequests implements OnModuleInit, OnApplicationShutdown {
  readonly #live = new Map<RequestKey, SharedRequest>();
  readonly #byJob = new Map<string, SharedRequest>();
  #subscription: Subscription | undefined;

  constructor(
    private readonly watch: JobWatch,
    private readonly jobs: RequestJobs,
    private readonly blobs: PayloadBlobs,
    private readonly feed: SpeechFeed,
    private readonly pool: WorkerPoolService,
    private readonly clock: ProcessClock,
  ) {}

  onModuleInit(): void {
    this.#subscription = this.watch.events$.subscribe(event => {
      const shared = this.#byJob.get(event.ref.jobId);
      if (shared) this.#receive(shared, event);
    });
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }

  get(key: RequestKey): SharedRequest | undefined {
    return this.#live.get(key);
  }

  /** Waiting ones, oldest first. */
  waiting(): SharedRequest[] {
    return [...this.#live.values()].filter(({ leasedAtMs }) => leasedAtMs === undefined);
  }

  /** What this gateway knows by itself; models without a request are absent. */
  depths(): QueueDepth[] {
    const nowMs = this.clock.nowMs();
    const all = [...this.#live.values()];
    return [...new Set(all.map(({ request }) => request.model))].map(model => {
      const waiting = this.waiting().filter(({ request }) => request.model === model);
      const realtime = waiting.filter(({ request }) => request.priority === RequestPriority.REALTIME).length;
      const batch = waiting.length - realtime;
      const running = all.filter(({ request }) => request.model === model).length - waiting.length;
      const oldest = waiting[0]?.request;
      return { model, realtime, batch, running, oldestWaitMs: oldest && nowMs - oldest.enqueuedAtMs };
    });
  }

  /** Accepts the request: from now on its queue deadline runs, and it can be cancelled. */
  open(shared: SharedRequest): void {
    this.#live.set(shared.request.key, shared);
    this.#byJob.set(shared.ref.jobId, shared);
    this.#startQueueDeadline(shared);
    shared.reports.accepted(shared.request.key);
  }

  /** Queues the job of an open request, unless it was cancelled meanwhile. Never rejects. */
  async enter(shared: SharedRequest): Promise<void> {
    await this.#listen(shared);
    try {
      if (shared.stopped === undefined) await this.jobs.enter(shared.ref, shared.placed);
      // Stopped while its job was being queued: the stop may have come too early to find the job.
      if (shared.stopped !== undefined) await this.jobs.stop(shared.ref, shared.stopped);
    } catch (error) {
      this.#end(shared, { type: 'failed', error });
    }
  }

  /** Never rejects. */
  async cancel(shared: SharedRequest, reason: CancelReason): Promise<void> {
    this.#close(shared);
    await this.#stop(shared, reason);
  }

  /** Before the job is queued: speech is sent on while its worker makes it. Never rejects. */
  async #listen({ relay, ref }: SharedRequest): Promise<void> {
    if (!relay) return;
    let asked = false;
    await this.feed.listen(ref, piece => {
      const held = relay.piece(piece);
      // The event that a worker has the job comes over another connection, and may be late.
      if (held && !asked) void this.watch.reconcile(ref);
      asked ||= held;
    });
  }

  #receive(shared: SharedRequest, event: JobEvent): void {
    switch (event.type) {
      case 'taken':
        return this.#leased(shared, event.workerId, event.promoted);
      case 'returned':
        return this.#requeued(shared, event.lost);
      case 'reprioritized': {
        const priority = priorityLevel(event.priority);
        shared.request = { ...shared.request, priority };
        return shared.reports.reprioritized(shared.request.key, priority);
      }
      case 'finished':
        shared.result = { blob: event.blob };
        return this.#finished(shared, event.result);
      case 'stopped':
        if (event.reason === 'queue_timeout') return this.#end(shared, { type: 'expired' });
        return this.#end(shared, { type: 'stopped', reason: event.reason });
      case 'lost':
        return this.#end(shared, { type: 'lost' });
      case 'unreadable': {
        const error = new DomainError('engine_failed', 'The result that the worker returned cannot be read.');
        return this.#end(shared, { type: 'failed', error });
      }
    }
  }

  #leased(shared: SharedRequest, workerId: string, aged: boolean): void {
    if (shared.leasedAtMs !== undefined) return;
    shared.leased(this.clock.nowMs());
    const isHeld = () => this.jobs.isHeld(shared.ref);
    shared.reports.leased(shared.request.key, { workerId, groupId: shared.ref.jobId, aged, isHeld });
  }

  #requeued(shared: SharedRequest, lost: boolean): void {
    if (shared.leasedAtMs === undefined) return;
    if (shared.relay?.begun) {
      this.#end(shared, { type: 'failed', error: lostMidway() });
      return void this.#stop(shared, 'disconnect');
    }
    shared.requeued(this.clock.nowMs());
    this.#startQueueDeadline(shared);
    shared.reports.requeued(shared.request.key, lost);
  }

  #finished(shared: SharedRequest, result: LoadedResult): void {
    this.#leased(shared, result.phases.workerId, false);
    if (result.outcome === 'failed') return this.#end(shared, { type: 'failed', error: decodeJobError(result.error) });
    if (result.outcome === 'cancelled') return;
    this.#complete(shared, result).catch((error: unknown) => this.#end(shared, { type: 'failed', error }));
  }

  async #complete(shared: SharedRequest, result: JobCompleted<JobValue>): Promise<void> {
    const { request, reports, relay, leasedAtMs = this.clock.nowMs() } = shared;
    const { value, execution, phases } = result;
    reports.computed(request.key, { leasedAtMs, batchWaitMs: phases.batchWaitMs });
    this.pool.reported(request.model, execution);
    if (value.kind === 'speech') await relay?.complete(value, (blob, from) => this.blobs.read(blob, from));
    this.#end(shared, { type: 'completed', reply: toWorkerReply(result) });
  }

  #startQueueDeadline(shared: SharedRequest): void {
    shared.startQueueDeadline(this.clock.nowMs(), () => {
      this.#end(shared, { type: 'expired' });
      void this.#stop(shared, 'queue_timeout');
    });
  }

  #stop(shared: SharedRequest, reason: StopReason): Promise<void> {
    shared.stopped = reason;
    return this.jobs.stop(shared.ref, reason);
  }

  #isOpen(shared: SharedRequest): boolean {
    return this.#live.get(shared.request.key) === shared;
  }

  #end(shared: SharedRequest, end: QueueEnd<WorkerReply>): void {
    if (!this.#isOpen(shared)) return;
    this.#close(shared);
    shared.reports.ended(shared.request.key, end);
  }

  #close(shared: SharedRequest): void {
    const { request, ref, placed, relay, result } = shared;
    shared.stopQueueDeadline();
    this.#live.delete(request.key);
    this.#byJob.delete(ref.jobId);
    if (relay) this.feed.forget(ref);
    this.watch.unwatch(ref);
    void this.blobs.remove(placed.blobs);
    if (result) void this.jobs.answered(ref, result.blob);
  }
}
