import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { merge, type Observable, Subject, type Subscription } from 'rxjs';
import { type StopNote, type StopReason } from '../../contracts/queue-jobs/queue-messages.js';
import { type LoadedResult, type JobCompleted, readJobResult } from '../../contracts/queue-jobs/job-result.js';
import { isPromoted } from '../../platform/redis/plane-ager.js';
import { BlobMissing } from '../../platform/storage/blob-missing.js';
import { blobOf } from '../../platform/storage/plane-values.js';
import { type PlacedJob, PayloadBlobs } from './payload-blobs.js';
import { JobEvents, type QueueEvent } from './job-events.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { type JobFacts, ModelQueues, type JobRef } from './model-queues.js';
import { JobCancels } from './job-cancels.js';

/** What became of a request that somebody here waits for. After all but the first two nothing follows. */
export type JobEvent = { readonly ref: JobRef } & (
  | { readonly type: 'taken'; readonly workerId: string; readonly promoted: boolean }
  /** Its worker died, or gave it back: it waits again. */
  | { readonly type: 'returned' }
  | { readonly type: 'finished'; readonly result: LoadedResult; readonly blob?: string | undefined }
  /** More workers died with it than `redis.max_stalled` allows, or it could not be kept in the queue. */
  | { readonly type: 'lost' }
  /** What came back is nothing that can be read here. */
  | { readonly type: 'unreadable' }
  | { readonly type: 'stopped'; readonly reason: StopReason }
);

interface Watched {
  readonly ref: JobRef;
  readonly placed: PlacedJob;
  taken: boolean;
  /** Times it was queued anew because it was gone. */
  again: number;
  /** Its result is on its way from the blob store. */
  loading: boolean;
}

/** Missed events are found this soon. */
const RECONCILE_MS = 5000;
const MOST_AGAIN = 10;

/**
 * Follows the requests that callers of this gateway wait for: by the queue's events as they come, and by asking when some may
 * have been missed. One that is gone without anybody having wanted that (a Redis that lost its memory, another gateway whose
 * caller of the same id left) is queued again: nothing accepted is lost as long as its gateway lives.
 */
@Injectable()
export class JobWatch implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(JobWatch.name);
  readonly #watched = new Map<string, Watched>();
  readonly #news = new Subject<JobEvent>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;

  readonly news$: Observable<JobEvent> = this.#news.asObservable();

  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    private readonly events: JobEvents,
    private readonly stops: JobCancels,
    private readonly blobs: PayloadBlobs,
  ) {}

  onModuleInit(): void {
    if (!this.link.enabled) return;
    const heard$ = merge(this.events.events$, this.stops.notes$);
    this.#subscription = heard$.subscribe(heard => this.#hear(heard));
    this.#subscription.add(this.link.back$.subscribe(() => void this.reconcile()));
    this.#timer = setInterval(() => void this.reconcile(), RECONCILE_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
    this.#subscription?.unsubscribe();
    this.#news.complete();
  }

  /** Before it is queued: its first event may come before the answer to that. */
  watch(ref: JobRef, placed: PlacedJob): void {
    this.#watched.set(nameOf(ref), { ref, placed, taken: false, again: 0, loading: false });
  }

  /** Its caller has an answer. */
  unwatch(ref: JobRef): void {
    this.#watched.delete(nameOf(ref));
  }

  /** Asks what became of the watched, or of one of them. Never rejects: the next time will tell. */
  async reconcile(only?: JobRef): Promise<void> {
    const known = only && this.#watched.get(nameOf(only));
    const watched = only ? (known ? [known] : []) : [...this.#watched.values()];
    if (watched.length === 0 || !this.link.usable) return;
    try {
      const facts = await this.queues.facts(watched.map(({ ref }) => ref));
      await Promise.all(watched.map((one, at) => this.#compare(one, facts[at])));
    } catch (error) {
      this.#logger.debug({ err: error }, 'asking for own requests failed; asked again');
    }
  }

  #hear(heard: QueueEvent | StopNote): void {
    const watched = this.#watched.get(nameOf(heard));
    if (!watched) return;
    if ('reason' in heard) {
      if (isMeantForAll(heard.reason)) this.#end(watched, { type: 'stopped', reason: heard.reason });
    } else this.#happened(watched, heard);
  }

  #happened(watched: Watched, { event, prev, returnvalue, failedReason }: QueueEvent): void {
    if (event === 'completed') return this.#finished(watched, returnvalue);
    if (event === 'failed') return this.#failed(watched, failedReason);
    if (event === 'stalled' || (event === 'waiting' && prev === 'active')) return this.#returned(watched);
    // Only a hint: an earlier job of that id may be meant, and `active` does not say which worker it is.
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
    this.#news.next({ ref: watched.ref, type: 'taken', workerId, promoted });
  }

  #returned(watched: Watched): void {
    if (!watched.taken) return;
    watched.taken = false;
    this.#news.next({ ref: watched.ref, type: 'returned' });
  }

  #finished(watched: Watched, json = 'null'): void {
    const result = readJobResult(parsed(json));
    if (result?.outcome === 'cancelled') return void this.#gone(watched).catch(() => undefined);
    if (result?.outcome === 'completed') return void this.#complete(watched, result);
    this.#end(watched, result ? { type: 'finished', result } : { type: 'unreadable' });
  }

  /** Both an event and a look may tell of it. What cannot be read now is tried again by the next look. */
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
      this.#logger.warn({ jobId: watched.ref.jobId, err: error }, 'a result could not be read; it is read again');
    }
  }

  #failed(watched: Watched, reason = ''): void {
    this.#logger.warn({ jobId: watched.ref.jobId, reason }, 'a request was given up by the queue');
    this.#end(watched, { type: 'lost' });
  }

  /** The job is gone, or was stopped while a worker had it. Either somebody wanted that for all, or it is queued again. */
  async #gone(watched: Watched): Promise<void> {
    const reason = await this.stops.reasonOf(watched.ref);
    if (!this.#isWatched(watched)) return;
    if (reason !== undefined && isMeantForAll(reason)) return this.#end(watched, { type: 'stopped', reason });
    watched.again += 1;
    if (watched.again > MOST_AGAIN) return this.#end(watched, { type: 'lost' });
    await this.queues.remove(watched.ref);
    await this.queues.add(watched.placed.job, watched.ref);
    this.#returned(watched);
  }

  #isWatched(watched: Watched): boolean {
    return this.#watched.get(nameOf(watched.ref)) === watched;
  }

  #end({ ref }: Watched, news: Unaddressed): void {
    this.unwatch(ref);
    this.#news.next({ ref, ...news });
  }
}

type Unaddressed = JobEvent extends infer N ? (N extends JobEvent ? Omit<N, 'ref'> : never) : never;

const nameOf = ({ queue, jobId }: Pick<JobRef, 'queue' | 'jobId'>): string => `${queue} ${jobId}`;

/** A caller that left, or a gateway that shuts down, speaks for itself only: another one may wait for the same id. */
const isMeantForAll = (reason: StopReason): boolean => reason !== 'disconnect' && reason !== 'shutdown';

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
