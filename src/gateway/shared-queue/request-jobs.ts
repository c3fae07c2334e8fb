import { Injectable, Logger } from '@nestjs/common';
import { readJobResult } from '../../contracts/queue-jobs/job-result.js';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { type StopReason } from '../../contracts/queue-jobs/queue-messages.js';
import { type TenantLoad } from '../../core/order/fair-lane.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { JobCancels } from './job-cancels.js';
import { JobWatch } from './job-watch.js';
import { type JobFacts, type JobRef, ModelQueues } from './model-queues.js';
import { PayloadBlobs, type PlacedJob } from './payload-blobs.js';
import { isFull, SharedQueueLink } from './shared-queue-link.js';

/** The BullMQ jobs of requests: found, queued, stopped, and removed once answered. */
@Injectable()
export class RequestJobs {
  readonly #logger = new Logger(RequestJobs.name);
  /** What `waiting` returned last: when a request came in here. */
  lastWaiting: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    private readonly watch: JobWatch,
    private readonly cancels: JobCancels,
    private readonly blobs: PayloadBlobs,
  ) {}

  ref({ model, id, tenant }: ScheduledRequest): JobRef {
    return this.queues.ref(model, id, tenant);
  }

  /**
   * The job of that id; undefined when there is none, and then the bounds of the queue apply.
   * @throws DomainError `queue_unavailable`
   */
  async known(ref: JobRef): Promise<JobFacts | undefined> {
    this.link.demand();
    return (await this.#answered(this.queues.facts([ref])))[0];
  }

  /**
   * Its worker renewed its lock lately: each does so within a third of the lock's time. Also true while Redis cannot
   * tell. A job that no worker has is reported as returned.
   */
  async isHeld(ref: JobRef): Promise<boolean> {
    try {
      const [facts] = await this.queues.facts([ref]);
      if (!facts?.taken) await this.watch.reconcile(ref);
      return (facts?.lockLeftMs ?? 0) > (this.link.access?.lockMs ?? 0) / 2;
    } catch {
      return true;
    }
  }

  /** The error of a request that waited too long for Redis, which counts as hung from now on. */
  overdue(): DomainError {
    return this.link.failure(new Error('Command timed out'));
  }

  /** Number of waiting requests of all gateways, by model. @throws DomainError `queue_unavailable` */
  async waiting(): Promise<ReadonlyMap<string, number>> {
    return (this.lastWaiting = await this.#answered(this.queues.waiting()));
  }

  /** What one tenant has waiting at all gateways, by model. @throws DomainError `queue_unavailable` */
  loadOf(tenant: string | undefined): Promise<ReadonlyMap<string, Omit<TenantLoad, 'bytes'>>> {
    return this.#answered(this.queues.loadOf(tenant));
  }

  /** @throws DomainError `duplicate_request_id` when the job of that id asks for something else, `queue_unavailable` */
  async rejectOther(ref: JobRef, { job }: PlacedJob): Promise<void> {
    const other = (await this.#answered(this.queues.data(ref))) as Partial<QueueJob> | undefined;
    if (other === undefined || other.fingerprint === job.fingerprint) return;
    throw new DomainError('duplicate_request_id', `The request id ${job.id} is in use by a different request.`);
  }

  /**
   * Queues the job, or joins the job of that id: if that succeeds, its result answers this request as well; otherwise
   * the work is tried again. While Redis is away the job is queued as soon as it is back.
   * @throws DomainError `queue_unavailable` when Redis is full.
   */
  async enter(ref: JobRef, placed: PlacedJob): Promise<void> {
    try {
      const [facts] = await this.queues.facts([ref]);
      if (facts?.finished && !succeeded(facts)) await this.queues.remove(ref);
      this.watch.watch(ref, placed);
      if (facts && (!facts.finished || succeeded(facts))) return await this.watch.reconcile(ref);
      await this.queues.add(placed, ref);
    } catch (error) {
      if (isFull(error)) {
        this.watch.unwatch(ref);
        throw this.link.failure(error);
      }
      this.watch.watch(ref, placed);
      this.#logger.warn({ jobId: ref.jobId, err: error }, 'Redis did not answer; the request is queued when it does');
    }
  }

  /** Its caller has the answer: the job and the blob of its result are removed soon. Never rejects. */
  async answered(ref: JobRef, blob: string | undefined): Promise<void> {
    try {
      const ms = await this.queues.answered(ref);
      if (blob !== undefined) this.blobs.removeLater(blob, ms);
    } catch (error) {
      this.#logger.debug({ jobId: ref.jobId, err: error }, 'an answered request stays in Redis until it expires');
    }
  }

  /** Whichever gateway accepted it. False: it does not wait. @throws when Redis does not answer */
  reprioritize(ref: JobRef, priority: PriorityLabel): Promise<boolean> {
    return this.queues.reprioritize(ref, priority);
  }

  /** A worker that has the job is notified at once. Never rejects. */
  async stop(ref: JobRef, reason: StopReason): Promise<void> {
    this.watch.unwatch(ref);
    try {
      await this.cancels.stop(ref, reason);
    } catch (error) {
      this.#logger.warn({ jobId: ref.jobId, reason, err: error }, 'Redis did not answer; the stop may be lost');
    }
  }

  /** Stops the job of that id, whichever gateway accepted it. False: there is none to stop. */
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
