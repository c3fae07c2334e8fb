import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type JobFacts } from '@switchyard/shared-queue/client/job-facts.js';
import { type JobRef, ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { readStopNote, type StopNote } from '@switchyard/shared-queue/messages.codec.js';
import { sweepEveryMs } from '@switchyard/shared-queue/result-expiry.js';
import { type QueueJobResult, readJobResult } from '@switchyard/shared-queue/result.codec.js';
import { NEVER, type Observable, Subject } from 'rxjs';
import { DomainError } from '../../core/errors/domain-error.js';
import { type RequestRef } from '../../core/request/request-key.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { PayloadBlobs, type PlacedJob } from './payload-blobs.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { type SharedRequest, type StopReason } from './shared-request.js';

/** A stop by a gateway. */
export type Stop = StopNote & { readonly reason: StopReason };

const BLOB_SWEEP_MS = 60_000;

/** Somebody wants the request stopped, whoever runs it. */
const WANTED: ReadonlySet<StopReason> = new Set(['client', 'operator', 'unload', 'load_failed']);

/**
 * The BullMQ jobs of requests: found, queued, stopped, and removed once answered; what
 * jobs and gateways that died have left is swept up. A stop
 * is a note: published, so that gateways and workers receive it within milliseconds, and
 * kept for those that were not connected.
 */
@Injectable()
export class RequestJobs implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(RequestJobs.name);
  readonly #stops = new Subject<Stop>();
  #upkeep: readonly NodeJS.Timeout[] = [];

  /** Stops by any gateway, this one included, that are meant for all. */
  readonly stops$ = this.#stops.asObservable();

  /** Tenants have other weights now. */
  readonly weightsChanged$: Observable<unknown>;

  constructor(
    readonly link: SharedQueueLink,
    readonly queues: ModelQueues,
    private readonly blobs: PayloadBlobs,
    @Optional() keyRing?: KeyRing,
  ) {
    this.weightsChanged$ = keyRing?.changed$ ?? NEVER;
  }

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
      this.#every(
        sweepEveryMs(this.link.access.resultTtlMs),
        async () => this.link.usable && this.queues.sweep(),
      ),
      this.#every(BLOB_SWEEP_MS, () => this.blobs.sweep()),
    ];
  }

  async onApplicationShutdown(): Promise<void> {
    for (const timer of this.#upkeep) clearInterval(timer);
    this.#stops.complete();
    await this.queues.close();
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
    else await this.queues.join(ref, attempt);
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
    const isStopped = await this.queues.stop(ref, reason, WANTED.has(reason) ? undefined : attempt);
    if (isStopped) await this.queues.remove(ref);
    return isStopped;
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

  #every(ms: number, work: () => Promise<unknown>): NodeJS.Timeout {
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
function stopForAll(json: string): Stop | undefined {
  const note = readStopNote(json) as Stop | undefined;
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
