import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { merge, type Observable, Subject, type Subscription } from 'rxjs';
import { type JobCompleted, type LoadedResult, readJobResult } from '../../contracts/queue-jobs/job-result.js';
import { isPromoted } from '../../contracts/queue-jobs/queue-keys.js';
import { type StopNote, type StopReason } from '../../contracts/queue-jobs/queue-messages.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { blobOf } from '../../platform/storage/blob-keys.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { JobCancels } from './job-cancels.js';
import { JobEvents, type QueueEvent } from './job-events.js';
import { type JobFacts, type JobRef, ModelQueues } from './model-queues.js';
import { PayloadBlobs, type PlacedJob } from './payload-blobs.js';
import { SharedQueueLink } from './shared-queue-link.js';

/** What happened to a job that this gateway waits for. Only the first three may be followed by another event. */
export type JobEvent = { readonly ref: JobRef } & (
  | { readonly type: 'taken'; readonly workerId: string; readonly promoted: boolean }
  /** Its worker died (`lost`) or gave it back: it waits again. */
  | { readonly type: 'returned'; readonly lost: boolean }
  /** While it waited. */
  | { readonly type: 'reprioritized'; readonly priority: PriorityLabel }
  | { readonly type: 'finished'; readonly result: LoadedResult; readonly blob?: string | undefined }
  /**
   * More workers died with it than `redis.max_stalled` allows, or it could not be kept in the queue; this version cannot
   * read the result.
   */
  | { readonly type: 'lost' | 'unreadable' }
  | { readonly type: 'stopped'; readonly reason: StopReason }
);

interface Watched {
  readonly ref: JobRef;
  placed: PlacedJob;
  taken: boolean;
  /** How often it was queued again because its job was gone. */
  requeues: number;
  /** Its result is being read from the blob store. */
  loading: boolean;
}

/** Missed events are found within this time. */
const RECONCILE_MS = 5000;
const MAX_REQUEUES = 10;

/**
 * Follows the jobs that callers of this gateway wait for: by the events of the queues, and by reading the jobs when
 * events may have been missed. A job that is gone although no one cancelled it for all (Redis lost its memory, or
 * another gateway's caller of the same id left) is queued again: no accepted request is lost while its gateway lives.
 */
@Injectable()
export class JobWatch implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(JobWatch.name);
  readonly #watched = new Map<string, Watched>();
  readonly #jobEvents = new Subject<JobEvent>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;

  readonly events$: Observable<JobEvent> = this.#jobEvents.asObservable();

  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    private readonly queueEvents: JobEvents,
    private readonly cancels: JobCancels,
    private readonly blobs: PayloadBlobs,
  ) {}

  onModuleInit(): void {
    if (!this.link.enabled) return;
    const received$ = merge(this.queueEvents.events$, this.cancels.notes$);
    this.#subscription = received$.subscribe(received => this.#receive(received));
    this.#subscription.add(this.link.back$.subscribe(() => void this.reconcile()));
    this.#timer = setInterval(() => void this.reconcile(), RECONCILE_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
    this.#subscription?.unsubscribe();
    this.#jobEvents.complete();
  }

  /** To be called before the job is queued: its first event may come before Redis confirms. */
  watch(ref: JobRef, placed: PlacedJob): void {
    this.#watched.set(nameOf(ref), { ref, placed, taken: false, requeues: 0, loading: false });
  }

  /** No further events of it. */
  unwatch(ref: JobRef): void {
    this.#watched.delete(nameOf(ref));
  }

  /** Reads the state of all watched jobs, or of one. Never rejects: what fails is read again later. */
  async reconcile(only?: JobRef): Promise<void> {
    const known = only && this.#watched.get(nameOf(only));
    const watched = only ? (known ? [known] : []) : [...this.#watched.values()];
    if (watched.length === 0 || !this.link.usable) return;
    try {
      const facts = await this.queues.facts(watched.map(({ ref }) => ref));
      await Promise.all(watched.map((one, at) => this.#compare(one, facts[at])));
    } catch (error) {
      this.#logger.debug({ err: error }, 'reading the jobs of own requests failed; read again later');
    }
  }

  #receive(received: QueueEvent | StopNote): void {
    const watched = this.#watched.get(nameOf(received));
    if (!watched) return;
    if ('reason' in received) {
      if (isMeantForAll(received.reason)) this.#end(watched, { type: 'stopped', reason: received.reason });
    } else this.#happened(watched, received);
  }

  #happened(watched: Watched, { event, prev, returnvalue, failedReason, priority }: QueueEvent): void {
    if (event === 'completed') return this.#finished(watched, returnvalue);
    if (event === 'failed') return this.#failed(watched, failedReason);
    if (event === 'stalled') return this.#returned(watched);
    // Also the first of the two events of a job whose worker died: the other one was read with it.
    if (event === 'waiting' && prev === 'active') return queueMicrotask(() => this.#returned(watched, false));
    if (event === 'reprioritized') return this.#reprioritized(watched, priority === 'realtime' ? 'realtime' : 'batch');
    // Only a hint: it may belong to an earlier job of that id, and `active` does not name the worker.
    if (event === 'active' || event === 'removed') void this.reconcile(watched.ref);
  }

  async #compare(watched: Watched, facts: JobFacts | undefined): Promise<void> {
    if (!this.#isWatched(watched)) return;
    if (!facts) return this.#gone(watched);
    if (facts.failedReason !== undefined) return this.#failed(watched, facts.failedReason);
    if (facts.finished) return this.#finished(watched, facts.returnValue);
    if (facts.taken) this.#taken(watched, facts);
    else this.#returned(watched);
  }

  #taken(watched: Watched, { workerId = '', priority }: JobFacts): void {
    if (watched.taken) return;
    watched.taken = true;
    const promoted = isPromoted(priority, watched.placed.job.priority);
    this.#jobEvents.next({ ref: watched.ref, type: 'taken', workerId, promoted });
  }

  #reprioritized(watched: Watched, priority: PriorityLabel): void {
    const { placed } = watched;
    watched.placed = { ...placed, job: { ...placed.job, priority } };
    this.#jobEvents.next({ ref: watched.ref, type: 'reprioritized', priority });
  }

  #returned(watched: Watched, lost = true): void {
    if (!watched.taken) return;
    watched.taken = false;
    this.#jobEvents.next({ ref: watched.ref, type: 'returned', lost });
  }

  #finished(watched: Watched, json = 'null'): void {
    const result = readJobResult(parsed(json));
    if (result?.outcome === 'cancelled') return void this.#gone(watched).catch(() => undefined);
    if (result?.outcome === 'completed') return void this.#complete(watched, result);
    this.#end(watched, result ? { type: 'finished', result } : { type: 'unreadable' });
  }

  /** Both an event and `reconcile` may report it. What cannot be read now is read again by the next `reconcile`. */
  async #complete(watched: Watched, result: JobCompleted): Promise<void> {
    if (watched.loading) return;
    watched.loading = true;
    try {
      const value = await this.blobs.load(result.value);
      if (!this.#isWatched(watched)) return;
      this.#end(watched, { type: 'finished', result: { ...result, value }, blob: blobOf(result.value) });
    } catch (error) {
      watched.loading = false;
      if (error instanceof BlobMissing) return void (await this.#gone(watched).catch(() => undefined));
      this.#logger.warn({ jobId: watched.ref.jobId, err: error }, 'a result could not be read; it is read again later');
    }
  }

  #failed(watched: Watched, reason = ''): void {
    this.#logger.warn({ jobId: watched.ref.jobId, reason }, 'BullMQ gave a job up');
    this.#end(watched, { type: 'lost' });
  }

  /** The job is gone, or was stopped at its worker. Either it was cancelled for all, or it is queued again. */
  async #gone(watched: Watched): Promise<void> {
    const reason = await this.cancels.reasonOf(watched.ref);
    if (!this.#isWatched(watched)) return;
    if (reason !== undefined && isMeantForAll(reason)) return this.#end(watched, { type: 'stopped', reason });
    watched.requeues += 1;
    if (watched.requeues > MAX_REQUEUES) return this.#end(watched, { type: 'lost' });
    await this.queues.remove(watched.ref);
    await this.queues.add(watched.placed, watched.ref);
    this.#returned(watched);
  }

  #isWatched(watched: Watched): boolean {
    return this.#watched.get(nameOf(watched.ref)) === watched;
  }

  #end({ ref }: Watched, event: EventFields): void {
    this.unwatch(ref);
    this.#jobEvents.next({ ref, ...event });
  }
}

type EventFields = JobEvent extends infer N ? (N extends JobEvent ? Omit<N, 'ref'> : never) : never;

const nameOf = ({ queue, jobId }: Pick<JobRef, 'queue' | 'jobId'>): string => `${queue} ${jobId}`;

/** False for a caller that left and a gateway that shuts down: another gateway may wait for the same id. */
const isMeantForAll = (reason: StopReason): boolean => reason !== 'disconnect' && reason !== 'shutdown';

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
