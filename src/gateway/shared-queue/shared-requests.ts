import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type JobRef } from '@switchyard/shared-queue/client/model-queues.js';
import {
  decodeJobError,
  decodeJobTranscript,
  type JobCompleted,
  type JobValue,
} from '@switchyard/shared-queue/result.codec.js';
import { isErrorCode } from '../../contracts/errors/error-registry.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { isFull } from '../../platform/redis/redis-problems.js';
import { blobOf } from '../../platform/storage/blob-keys.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { type QueueEnd } from '../registry/request-queue.port.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { JobWatch } from './job-watch.js';
import { PayloadBlobs, type PlacedJob } from './payload-blobs.js';
import { QueueEvents } from './queue-events.js';
import { RequestJobs, jobResultOf } from './request-jobs.js';
import { type SharedRequest, type StopReason } from './shared-request.js';
import { lostMidway, SpeechFeed } from './speech-relay.js';

/**
 * The requests of this gateway in the shared queue. Reports what happens to the job of
 * each to its request. A job that is gone although no one cancelled it
 * for all (Redis lost its memory, or another gateway's caller of the same id left) is
 * queued again: no accepted request is lost while its gateway lives.
 *
 * Who writes what: `SharedIntake` adds a request, and only this class calls the methods that
 * change it once it is accepted. Events, stop notes and what is read of the jobs come in any order
 * and more than once: the first that says that a job ended counts.
 * Who ends it: `#end`, with a report, when the job completed, failed, was lost or stopped,
 * or its queue deadline passed; `cancel`, without one, when the scheduler has settled it.
 */
@Injectable()
export class SharedRequests implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(SharedRequests.name);
  /** By the id of its job, from its submission to its end. */
  readonly #requests = new Map<string, SharedRequest>();
  readonly #watch: JobWatch;

  constructor(
    private readonly jobs: RequestJobs,
    events: QueueEvents,
    private readonly blobs: PayloadBlobs,
    private readonly feed: SpeechFeed,
    private readonly pool: WorkerPoolService,
    private readonly clock: ProcessClock,
  ) {
    this.#watch = new JobWatch(jobs, events, {
      leased: (shared, workerId, aged) => this.#leased(shared, workerId, aged),
      requeued: (shared, lost) => this.#requeued(shared, lost),
      finished: (shared, json) => this.#finished(shared, json),
      failed: (shared, reason) => this.#failed(shared, reason),
      stopped: (shared, reason) => this.#stoppedForAll(shared, reason),
      gone: shared => this.#gone(shared),
    });
  }

  onModuleInit(): void {
    if (!this.jobs.link.enabled) return;
    this.#watch.begin();
    this.jobs.weightsChanged$.subscribe(() => void this.#weigh());
  }

  onApplicationShutdown(): void {
    this.#watch.close();
  }

  get({ jobId }: JobRef): SharedRequest | undefined {
    return this.#requests.get(jobId);
  }

  /** Those that are entering included, in the order in which they came. */
  all(): SharedRequest[] {
    return [...this.#requests.values()];
  }

  /** Before it is accepted: `open` or `forget` follows. */
  add(shared: SharedRequest): void {
    this.#requests.set(shared.ref.jobId, shared);
  }

  forget(shared: SharedRequest): void {
    if (this.#isHere(shared)) this.#requests.delete(shared.ref.jobId);
  }

  /**
   * Accepts the request: from now on its queue deadline runs, and it can be cancelled.
   * Then queues its job, unless it was cancelled meanwhile; while Redis is away, the job
   * is queued as soon as it is back. Never rejects.
   */
  async open(shared: SharedRequest, placed: PlacedJob): Promise<void> {
    shared.accepted(placed);
    this.#startQueueDeadline(shared);
    shared.reports.accepted(shared.request.key);
    await this.#listen(shared);
    try {
      if (shared.stopped === undefined) await this.#queue(shared, placed);
      // Stopped while its job was being queued: the stop may have come too early to
      // find the job.
      if (shared.stopped !== undefined) await this.#stop(shared, shared.stopped);
    } catch (error) {
      this.#end(shared, { type: 'failed', error });
    }
  }

  /** Of an accepted request. Never rejects. */
  async cancel(shared: SharedRequest, reason: CancelReason): Promise<void> {
    this.#close(shared);
    await this.#stop(shared, reason);
  }

  /** @throws DomainError `queue_unavailable` when Redis is full */
  async #queue(shared: SharedRequest, placed: PlacedJob): Promise<void> {
    const { ref } = shared;
    const watch = (): void => {
      if (this.#isHere(shared)) this.#watch.add(shared);
    };
    try {
      const joined = await shared.queueing(() => this.jobs.enter(shared, placed, watch));
      if (joined) await this.#watch.look([shared]);
    } catch (error) {
      if (isFull(error)) throw this.jobs.link.failure(error);
      watch();
      this.#logger.warn(
        { jobId: ref.jobId, err: error },
        'Redis did not answer; the request is queued when it does',
      );
    }
  }

  /**
   * Before the job is queued: speech is sent on while its worker makes it. Never rejects.
   */
  async #listen(shared: SharedRequest): Promise<void> {
    const { relay, ref } = shared;
    if (!relay) return;
    await this.feed.listen(ref, piece => {
      // The event that a worker has the job comes over another connection, and
      // may be late.
      if (relay.piece(piece)) void this.#watch.look([shared]);
    });
  }

  /** Weights that changed also count for what waits; new requests bring theirs along. */
  async #weigh(): Promise<void> {
    const own = this.all().filter(({ isWaiting }) => isWaiting);
    const waiting = new Map(own.map(({ request }) => [request.tenant, request.model]));
    try {
      for (const [tenant, model] of waiting) await this.jobs.queues.weigh(model, tenant);
    } catch (error) {
      this.#logger.debug({ err: error }, 'new weights apply with the next requests');
    }
  }

  #leased(shared: SharedRequest, workerId: string, aged: boolean): void {
    if (shared.leasedAtMs !== undefined) return;
    shared.leased(this.clock.nowMs());
    const groupId = shared.ref.jobId;
    shared.reports.leased(shared.request.key, { workerId, groupId, aged });
  }

  #requeued(shared: SharedRequest, lost: boolean): void {
    if (!this.#watch.has(shared) || shared.leasedAtMs === undefined) return;
    if (shared.relay?.begun) {
      this.#end(shared, { type: 'failed', error: lostMidway() });
      return void this.#stop(shared, 'disconnect');
    }
    shared.requeued(this.clock.nowMs());
    this.#startQueueDeadline(shared);
    shared.reports.requeued(shared.request.key, lost);
  }

  #finished(shared: SharedRequest, json: string | undefined): void {
    const result = jobResultOf(json);
    if (result?.outcome === 'cancelled') return void this.#gone(shared);
    if (result?.outcome === 'completed') return void this.#load(shared, result);
    this.#watch.delete(shared);
    if (!result) {
      const error = new DomainError(
        'engine_failed',
        'The result that the worker returned cannot be read.',
      );
      return this.#end(shared, { type: 'failed', error });
    }
    shared.answered(undefined);
    this.#leased(shared, result.phases.workerId, false);
    this.#end(shared, { type: 'failed', error: decodeJobError(result.error, isErrorCode) });
  }

  /**
   * An event and a look may both tell it. What cannot be read now is read with the next look.
   */
  async #load(shared: SharedRequest, result: JobCompleted): Promise<void> {
    if (!shared.beginReading()) return;
    try {
      const [value, stopped] = await Promise.all([
        this.blobs.load(result.value),
        // The note may be later than the event, but not than the end of the job.
        this.jobs.stopReason(shared.ref),
      ]);
      if (!this.#watch.has(shared)) return;
      if (stopped !== undefined) return this.#stoppedForAll(shared, stopped);
      this.#watch.delete(shared);
      shared.answered(blobOf(result.value));
      this.#complete(shared, { ...result, value }).catch((error: unknown) =>
        this.#end(shared, { type: 'failed', error }),
      );
    } catch (error) {
      shared.readingFailed();
      if (error instanceof BlobMissing) return this.#gone(shared);
      this.#logger.warn(
        { jobId: shared.ref.jobId, err: error },
        'a result could not be read; it is read again later',
      );
    }
  }

  async #complete(shared: SharedRequest, result: JobCompleted<JobValue>): Promise<void> {
    const { value, execution, phases } = result;
    this.#leased(shared, phases.workerId, false);
    const { request, reports, relay, leasedAtMs = this.clock.nowMs() } = shared;
    const { batchWaitMs } = phases;
    reports.computed(request.key, leasedAtMs + batchWaitMs, batchWaitMs);
    this.pool.of(request.model)?.reported(execution);
    if (value.kind === 'speech')
      await relay?.complete(value, (blob, from) => this.blobs.read(blob, from));
    this.#end(shared, { type: 'completed', reply: toWorkerReply(result) });
  }

  #failed(shared: SharedRequest, reason = ''): void {
    this.#logger.warn({ jobId: shared.ref.jobId, reason }, 'BullMQ gave a job up');
    this.#end(shared, { type: 'lost' });
  }

  /**
   * The job is gone, or was stopped at its worker. Either it was cancelled for all, or it
   * is queued again. While it is being queued, that is decided when it is told again. Never
   * rejects: what fails is tried again then, too.
   */
  async #gone(shared: SharedRequest): Promise<void> {
    if (!shared.isQueueing) await shared.queueing(() => this.#again(shared));
  }

  async #again(shared: SharedRequest): Promise<void> {
    const { ref, placed } = shared;
    try {
      const reason = await this.jobs.stopReason(ref);
      if (!this.#watch.has(shared) || !placed) return;
      if (reason !== undefined) return this.#stoppedForAll(shared, reason);
      if (!shared.mayRequeue()) return this.#end(shared, { type: 'lost' });
      await this.jobs.again(ref, placed);
      this.#requeued(shared, true);
    } catch (error) {
      this.#logger.debug(
        { jobId: ref.jobId, err: error },
        'a job that is gone was not queued again',
      );
    }
  }

  #stoppedForAll(shared: SharedRequest, reason: StopReason): void {
    this.#end(
      shared,
      reason === 'queue_timeout' ? { type: 'expired' } : { type: 'stopped', reason },
    );
  }

  #startQueueDeadline(shared: SharedRequest): void {
    shared.startQueueDeadline(this.clock.nowMs(), () => {
      this.#end(shared, { type: 'expired' });
      void this.#stop(shared, 'queue_timeout');
    });
  }

  #stop(shared: SharedRequest, reason: StopReason): Promise<void> {
    shared.stop(reason);
    return this.jobs.stop(shared.ref, reason, shared.attempt);
  }

  #isHere(shared: SharedRequest): boolean {
    return this.#requests.get(shared.ref.jobId) === shared;
  }

  #end(shared: SharedRequest, end: QueueEnd): void {
    if (!this.#isHere(shared)) return;
    this.#close(shared);
    shared.reports.ended(shared.request.key, end);
  }

  #close(shared: SharedRequest): void {
    const { ref, placed, relay, result } = shared;
    shared.stopQueueDeadline();
    this.#watch.delete(shared);
    this.forget(shared);
    if (relay) this.feed.forget(ref);
    if (placed) void this.blobs.remove(placed.blobs);
    if (result) void this.jobs.answered(ref, result.blob);
  }
}

/** The audio of speech is not part of it: it is read from the blob store before. */
function toWorkerReply({ value, execution }: JobCompleted<JobValue>): WorkerReply {
  switch (value.kind) {
    case 'transcript':
      return {
        kind: 'transcript',
        transcript: decodeJobTranscript(value.transcript),
        execution,
      };
    case 'speech':
      return { kind: 'speech', durationS: value.durationS, lateS: value.lateS ?? 0, execution };
    case 'embeddings': {
      const { dimensions, usage } = value;
      const vectors = Buffer.from(value.vectors, 'base64');
      return { kind: 'embeddings', vectors, dimensions, usage, execution };
    }
  }
}
