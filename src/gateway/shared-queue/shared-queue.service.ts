import { Injectable, Logger } from '@nestjs/common';
import { type Observable } from 'rxjs';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { type StopReason, type WorkerAnnouncement } from '../../contracts/queue-jobs/queue-messages.js';
import { readJobResult } from '../../contracts/queue-jobs/job-result.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type PlacedJob, PayloadBlobs } from './payload-blobs.js';
import { WorkerDirectory } from './worker-directory.js';
import { type QueueEntry } from './queue-entry.js';
import { isFull, SharedQueueLink } from './shared-queue-link.js';
import { type JobFacts, ModelQueues, type JobRef } from './model-queues.js';
import { JobCancels } from './job-cancels.js';
import { type JobEvent, JobWatch } from './job-watch.js';

/** The shared queue as the scheduler sees it (D-19): requests in, stops in, news of own requests out. */
@Injectable()
export class SharedQueue {
  readonly #logger = new Logger(SharedQueue.name);
  readonly news$: Observable<JobEvent>;
  readonly changes$: Observable<void>;

  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    private readonly watch: JobWatch,
    private readonly stops: JobCancels,
    private readonly census: WorkerDirectory,
    private readonly blobs: PayloadBlobs,
  ) {
    this.news$ = watch.news$;
    this.changes$ = census.changes$;
  }

  /** `queue.driver` is redis. */
  get enabled(): boolean {
    return this.link.enabled;
  }

  /** Redis answers and has room. */
  get usable(): boolean {
    return this.link.usable;
  }

  /** For who only looks: `otherwise` while Redis does not answer. Never rejects, and never waits for a Redis that hangs. */
  look<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
    return this.link.look(read, otherwise);
  }

  /** Some worker takes work of the model now. */
  hasReady(model: string): boolean {
    return this.census.hasReady(model);
  }

  workers(model?: string): readonly WorkerAnnouncement[] {
    return this.census.workers(model);
  }

  ref(model: string, requestId: string, tenant: string | undefined): JobRef {
    return this.queues.ref(model, requestId, tenant);
  }

  /**
   * What is known of that id: undefined when nothing is, and then bounds apply.
   * @throws DomainError `queue_unavailable`
   */
  async known(ref: JobRef): Promise<JobFacts | undefined> {
    this.link.demand();
    return (await this.#answered(this.queues.facts([ref])))[0];
  }

  /** What a request is told that has waited too long for Redis, which counts as hung from now on. */
  overdue(): DomainError {
    return this.link.failure(new Error('Command timed out'));
  }

  /** Requests that wait, of all gateways, by model. @throws DomainError `queue_unavailable` */
  waiting(): Promise<ReadonlyMap<string, number>> {
    return this.#answered(this.queues.waiting());
  }

  /** Writes the audio to the blob store. @throws DomainError `storage_full`; what the signal was aborted with. */
  place(entry: QueueEntry, signal: AbortSignal): Promise<PlacedJob> {
    return this.blobs.place(entry, signal);
  }

  /** Never rejects. */
  discard({ blobs }: PlacedJob): Promise<void> {
    return this.blobs.remove(blobs);
  }

  /** Audio that a worker made, from a position on. */
  read(blob: string, from: number): AsyncIterable<Uint8Array> {
    return this.blobs.read(blob, from);
  }

  /** Asks now what became of it. Never rejects. */
  confirm(ref: JobRef): Promise<void> {
    return this.watch.reconcile(ref);
  }

  /** @throws DomainError `duplicate_request_id` when the job of that id asks for something else, `queue_unavailable`. */
  async refuseOther(ref: JobRef, { job }: PlacedJob): Promise<void> {
    const other = (await this.#answered(this.queues.data(ref))) as Partial<QueueJob> | undefined;
    if (other === undefined || other.fingerprint === job.fingerprint) return;
    throw new DomainError('duplicate_request_id', `The request id ${job.id} is taken by another request.`);
  }

  /**
   * Queues it, or joins the job of that id: its success is this request's answer as well, anything else is tried again. While
   * Redis is away it is queued when that is back.
   * @throws DomainError `queue_unavailable` when Redis is full.
   */
  async enter(ref: JobRef, placed: PlacedJob): Promise<void> {
    try {
      const [facts] = await this.queues.facts([ref]);
      if (facts?.finished && !succeeded(facts)) await this.queues.remove(ref);
      this.watch.watch(ref, placed);
      if (facts && (!facts.finished || succeeded(facts))) return await this.watch.reconcile(ref);
      await this.queues.add(placed.job, ref);
    } catch (error) {
      if (isFull(error)) {
        this.watch.unwatch(ref);
        throw this.link.failure(error);
      }
      this.watch.watch(ref, placed);
      this.#logger.warn({ jobId: ref.jobId, err: error }, 'Redis did not answer; the request is queued when it does');
    }
  }

  /** Never rejects. Its caller has the answer: the job and the blob of its result are removed soon. */
  async answered(ref: JobRef, blob: string | undefined): Promise<void> {
    try {
      const ms = await this.queues.answered(ref);
      if (blob !== undefined) this.blobs.removeLater(blob, ms);
    } catch (error) {
      this.#logger.debug({ jobId: ref.jobId, err: error }, 'an answered request stays in Redis until it expires');
    }
  }

  /** Nobody here waits for it any more. */
  forget(ref: JobRef): void {
    this.watch.unwatch(ref);
  }

  /** Never rejects. True: it was still waiting. A worker that has it hears of it at once. */
  async stop(ref: JobRef, reason: StopReason): Promise<boolean> {
    this.watch.unwatch(ref);
    try {
      return await this.stops.stop(ref, reason);
    } catch (error) {
      this.#logger.warn({ jobId: ref.jobId, reason, err: error }, 'Redis did not answer; the stop may go unheard');
      return false;
    }
  }

  /** Stops what any gateway accepted. False: there is nothing of that id to stop. */
  async stopKnown(requestId: string, tenant: string | undefined, reason: StopReason): Promise<boolean> {
    const refs = this.queues.refs(requestId, tenant);
    const facts = await this.queues.facts(refs).catch(() => []);
    const live = refs.filter((_, at) => facts[at] !== undefined && !facts[at].finished);
    for (const ref of live) await this.stop(ref, reason);
    return live.length > 0;
  }

  async #answered<T>(reply: Promise<T>): Promise<T> {
    try {
      return await reply;
    } catch (error) {
      throw this.link.failure(error);
    }
  }
}

function succeeded({ returnValue = 'null' }: JobFacts): boolean {
  try {
    return readJobResult(JSON.parse(returnValue))?.outcome === 'completed';
  } catch {
    return false;
  }
}
