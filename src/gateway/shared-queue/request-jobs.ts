import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type Observable, Subject } from 'rxjs';
import { type QueueJobResult, readJobResult } from '../../contracts/queue-jobs/job-result.js';
import {
  readStopNote,
  type StopNote,
  type StopReason,
} from '../../contracts/queue-jobs/queue-messages.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type RequestRef } from '../../core/request/request-key.js';
import { sweepEveryMs } from '../../platform/redis/result-expiry.js';
import { type JobFacts, type JobRef, ModelQueues } from './model-queues.js';
import { PayloadBlobs, type PlacedJob } from './payload-blobs.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { type SharedRequest } from './shared-request.js';

const BLOB_SWEEP_MS = 60_000;

/** Field of BullMQ's hash of a job: the attempt that joined it last. */
const JOINED = 'joined';
/** A job that is gone must not come back as a hash with this field alone. */
const JOIN = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end`;
/** Somebody wants the request stopped, whoever runs it. */
const WANTED: ReadonlySet<StopReason> = new Set(['client', 'operator', 'unload', 'load_failed']);

/**
 * Decides between a stop and the end of a job: one that has finished is not stopped. The note
 * also stops a job that is not there, as one that is about to be queued again; 0 says that
 * nothing was stopped for certain.
 */
const STOP = `
if redis.call('HGET', KEYS[1], 'finishedOn') then return 0 end
local joined = redis.call('HGET', KEYS[1], '${JOINED}')
if ARGV[4] ~= '' and joined and joined ~= ARGV[4] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[1])
return redis.call('EXISTS', KEYS[1])`;

/**
 * The BullMQ jobs of requests: found, queued, stopped, and removed once answered; what
 * jobs and gateways that died have left is swept up. A stop
 * is a note: published, so that gateways and workers receive it within milliseconds, and
 * kept for those that were not connected.
 */
@Injectable()
export class RequestJobs implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(RequestJobs.name);
  readonly #stops = new Subject<StopNote>();
  #upkeep: readonly NodeJS.Timeout[] = [];

  /** Stops by any gateway, this one included, that are meant for all. */
  readonly stops$: Observable<StopNote> = this.#stops.asObservable();

  constructor(
    readonly link: SharedQueueLink,
    readonly queues: ModelQueues,
    private readonly blobs: PayloadBlobs,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    const { stops } = this.link.keys;
    const listener = this.link.listener();
    listener.on('message', (channel: string, json: string) => {
      const note = channel === stops ? stopForAll(json) : undefined;
      if (note) this.#stops.next(note);
    });
    // The client sends it once Redis answers, and again after each break.
    listener.subscribe(stops).catch(() => undefined);
    this.#upkeep = [
      this.#every(sweepEveryMs(this.link.access.resultTtlMs), () => this.queues.sweep()),
      this.#every(BLOB_SWEEP_MS, () => this.blobs.sweep()),
    ];
  }

  onApplicationShutdown(): void {
    for (const timer of this.#upkeep) clearInterval(timer);
    this.#stops.complete();
  }

  /**
   * @throws DomainError `duplicate_request_id` when the job of that id asks for something
   *   else. @throws when Redis does not answer
   */
  async rejectOther(ref: JobRef, { job }: PlacedJob): Promise<void> {
    const other = await this.queues.data(ref);
    if (other === undefined || other.fingerprint === job.fingerprint) return;
    throw new DomainError(
      'duplicate_request_id',
      `The request id ${job.id} is in use by a different request.`,
    );
  }

  /**
   * Queues the job, or joins the job of that id: if that succeeds, its result answers
   * this request as well; otherwise the work is tried again.
   * @param onWatch called before the job is queued: its first event may come
   *   before Redis confirms
   * @returns true: it joined. @throws when Redis does not answer
   */
  async enter(
    { ref, attempt }: Pick<SharedRequest, 'ref' | 'attempt'>,
    placed: PlacedJob,
    onWatch: () => void,
  ): Promise<boolean> {
    const [facts] = await this.queues.facts([ref]);
    const isUsed = facts !== undefined && (!facts.finished || succeeded(facts));
    if (facts && !isUsed) await this.queues.remove(ref);
    onWatch();
    if (!isUsed) await this.queues.add(placed, ref);
    else await this.link.redis.eval(JOIN, 1, this.#key(ref), JOINED, attempt);
    return isUsed;
  }

  /** Queues a job again that is gone. @throws when Redis does not answer */
  async again(ref: JobRef, placed: PlacedJob): Promise<void> {
    await this.queues.remove(ref);
    await this.queues.add(placed, ref);
  }

  /**
   * Its caller has the answer: the job and the blob of its result are removed
   * soon. Never rejects.
   */
  async answered(ref: JobRef, blob: string | undefined): Promise<void> {
    try {
      const ms = await this.queues.answered(ref);
      if (blob !== undefined) this.blobs.removeLater(blob, ms);
    } catch (error) {
      this.#logger.debug(
        { jobId: ref.jobId, err: error },
        'an answered request stays in Redis until it expires',
      );
    }
  }

  /** As `stopped`, for a request whose caller is answered already. Never rejects. */
  async stop(ref: JobRef, reason: StopReason, attempt?: string): Promise<void> {
    await this.stopped(ref, reason, attempt).catch((error: unknown) =>
      this.#logger.warn(
        { jobId: ref.jobId, reason, err: error },
        'Redis did not answer; the stop may be lost',
      ),
    );
  }

  /**
   * The job is removed unless a worker has it, which is notified at once. True: it had not
   * finished, and no gateway answers with what it may still finish with (D-53).
   * @param attempt whose end is the reason: another attempt that joined the job keeps it,
   *   unless somebody wants it stopped for all (D-56)
   * @throws when Redis does not answer
   */
  async stopped(ref: JobRef, reason: StopReason, attempt?: string): Promise<boolean> {
    const { jobId } = ref;
    const { redis, keys, access } = this.link;
    const queue = keys.queue(ref.model);
    const note = writeJson({ queue, jobId, reason } satisfies StopNote);
    const isStopped = await redis.eval(
      STOP,
      2,
      ...[this.#key(ref), keys.stop(queue, jobId)],
      ...[note, access.resultTtlMs, keys.stops],
      WANTED.has(reason) ? '' : (attempt ?? ''),
    );
    if (isStopped === 1) await this.queues.remove(ref);
    return isStopped === 1;
  }

  /**
   * Why a job that is gone was stopped for all; undefined: it was not. @throws when
   * Redis does not answer
   */
  async stopReason({ model, jobId }: JobRef): Promise<StopReason | undefined> {
    const { redis, keys } = this.link;
    const json = await redis.get(keys.stop(keys.queue(model), jobId));
    return json === null ? undefined : stopForAll(json)?.reason;
  }

  /**
   * Stops the job of that id, whichever gateway accepted it. False: there is
   * none to stop. @throws when Redis does not answer
   */
  async stopKnown(ref: RequestRef, reason: StopReason): Promise<boolean> {
    const refs = this.queues.refs(ref);
    const facts = await this.queues.facts(refs);
    return this.stopEach(
      refs.filter((_, at) => facts[at] !== undefined),
      reason,
    );
  }

  /** True: at least one of them had not finished. @throws when Redis does not answer */
  async stopEach(refs: readonly JobRef[], reason: StopReason): Promise<boolean> {
    const stopped = await Promise.all(refs.map(ref => this.stopped(ref, reason)));
    return stopped.includes(true);
  }

  #key({ model, jobId }: JobRef): string {
    return this.link.keys.base(model) + jobId;
  }

  #every(ms: number, work: () => Promise<void>): NodeJS.Timeout {
    const careful = (): void =>
      void work().catch((error: unknown) =>
        this.#logger.debug({ err: error }, 'upkeep failed; done again'),
      );
    return setInterval(careful, ms).unref();
  }
}

/**
 * Undefined for a caller that left and a gateway that shuts down: another gateway may wait
 * for the same id.
 */
function stopForAll(json: string): StopNote | undefined {
  const note = readStopNote(json);
  return note?.reason === 'disconnect' || note?.reason === 'shutdown' ? undefined : note;
}

const succeeded = ({ returnValue }: JobFacts): boolean =>
  jobResultOf(returnValue)?.outcome === 'completed';

/**
 * What a worker completed its job with. Undefined: nothing, or nothing that this
 * version can read.
 */
export const jobResultOf = (returnValue = 'null'): QueueJobResult | undefined =>
  readJobResult(jsonIn(returnValue, STORED_BOUNDS));
