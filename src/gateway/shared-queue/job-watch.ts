import { Logger } from '@nestjs/common';
import { type QueueEvent } from '@switchyard/shared-queue/client/job-events.js';
import { type JobFacts } from '@switchyard/shared-queue/client/job-facts.js';
import { isPromoted } from '@switchyard/shared-queue/keys.js';
import { type QueueEvents } from './queue-events.js';
import { type RequestJobs, type Stop } from './request-jobs.js';
import { type SharedRequest, type StopReason } from './shared-request.js';

/** Missed events are found within this time. */
const RECONCILE_MS = 5000;

/** What happened to the job of a request. It may be told more than once, and in any order. */
interface JobListener {
  leased(shared: SharedRequest, workerId: string, aged: boolean): void;
  /** @param lost its worker died; false: the worker gave it back */
  requeued(shared: SharedRequest, lost: boolean): void;
  /** @param json what its worker returned */
  finished(shared: SharedRequest, json: string | undefined): void;
  /** BullMQ gave it up: too many workers died with it. */
  failed(shared: SharedRequest, reason: string | undefined): void;
  stopped(shared: SharedRequest, reason: StopReason): void;
  /** It is not there. Never rejects. */
  gone(shared: SharedRequest): Promise<void>;
}

/**
 * Follows the jobs of own requests: by the events of the queues, and by reading the jobs
 * when events may have been missed.
 */
export class JobWatch {
  readonly #logger = new Logger(JobWatch.name);
  /** By the id of the job. */
  readonly #watched = new Map<string, SharedRequest>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly jobs: RequestJobs,
    private readonly events: QueueEvents,
    private readonly listener: JobListener,
  ) {}

  begin(): void {
    this.events.events$.subscribe(event => this.#received(event));
    this.jobs.stops$.subscribe(note => this.#stopNoted(note));
    this.jobs.link.back$.subscribe(() => void this.look());
    this.#timer = setInterval(() => void this.look(), RECONCILE_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** From now on events of its job cannot belong to an earlier job of that id. */
  add(shared: SharedRequest): void {
    this.#watched.set(shared.ref.jobId, shared);
  }

  delete(shared: SharedRequest): void {
    if (this.has(shared)) this.#watched.delete(shared.ref.jobId);
  }

  has(shared: SharedRequest): boolean {
    return this.#watched.get(shared.ref.jobId) === shared;
  }

  /** Reads the state of their jobs. Never rejects: what fails is read again later. */
  async look(requests: Iterable<SharedRequest> = this.#watched.values()): Promise<void> {
    const watched = [...requests].filter(shared => this.has(shared));
    if (watched.length === 0 || !this.jobs.link.usable) return;
    try {
      const facts = await this.jobs.queues.facts(watched.map(({ ref }) => ref));
      await Promise.all(watched.map((shared, at) => this.#compare(shared, facts[at])));
    } catch (error) {
      this.#logger.debug(
        { err: error },
        'reading the jobs of own requests failed; read again later',
      );
    }
  }

  #stopNoted({ jobId, queue, reason }: Stop): void {
    const shared = this.#watched.get(jobId);
    const { keys } = this.jobs.link;
    if (shared && keys.queue(shared.ref.model) === queue) this.listener.stopped(shared, reason);
  }

  #received(received: QueueEvent): void {
    const shared = this.#watched.get(received.jobId);
    if (shared?.ref.model === received.model) this.#happened(shared, received);
  }

  #happened(
    shared: SharedRequest,
    { event, prev, returnvalue, failedReason, priority }: QueueEvent,
  ): void {
    const { listener } = this;
    if (event === 'completed') return listener.finished(shared, returnvalue);
    if (event === 'failed') return listener.failed(shared, failedReason);
    if (event === 'stalled') return listener.requeued(shared, true);
    // Also the first of the two events of a job whose worker died: the other one was
    // read with it.
    if (event === 'waiting' && prev === 'active')
      return queueMicrotask(() => listener.requeued(shared, false));
    if (event === 'reprioritized')
      return shared.reprioritized(priority === 'realtime' ? 'realtime' : 'batch');
    // Only a hint: it may belong to an earlier job of that id, and `active` does not
    // name the worker.
    if (event === 'active' || event === 'removed') void this.look([shared]);
  }

  async #compare(shared: SharedRequest, facts: JobFacts | undefined): Promise<void> {
    const { listener } = this;
    if (!this.has(shared)) return;
    if (!facts) return listener.gone(shared);
    if (facts.failedReason !== undefined) return listener.failed(shared, facts.failedReason);
    if (facts.finished) return listener.finished(shared, facts.returnValue);
    if (!facts.taken) return listener.requeued(shared, true);
    const { workerId = '', priority } = facts;
    const aged = isPromoted(priority, shared.placed?.job.priority ?? 'batch');
    listener.leased(shared, workerId, aged);
  }
}
