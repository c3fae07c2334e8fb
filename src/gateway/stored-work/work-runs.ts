import { Readable } from 'node:stream';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { filter, firstValueFrom } from 'rxjs';
import { errorDefinition } from '../../contracts/errors/error-registry.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/errors/domain-error.js';
import {
  DEFAULT_TENANT,
  type RequestKey,
  requestKey,
  type RequestRef,
} from '../../core/request/request-key.js';
import { type StoredEnd, type StoredRequest } from '../../core/request/stored-request.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { StorageRetries } from './storage-retries.js';
import { storedText, type WorkAnswer } from './stored-answers.js';
import { StoredLeases, type WorkAttempt } from './stored-leases.js';
import { StoredWork } from './stored-work.js';

/**
 * Attempts per request that a gateway's death or a mistake of ours ended: after these, the
 * request itself is the likely cause.
 */
const MOST_LOSSES = 3;
/**
 * Codes of what passes: the request was accepted, so it waits and runs.
 * `duplicate_request_id`: another attempt at it still runs here.
 */
const PASSING =
  /"((queue|upstream|storage)_unavailable|(queue|storage)_full|duplicate_request_id)"/;
const PAUSES = { firstMs: 1000, longestMs: 5000 };

/** A failure: of work that was not queued yet, its caller receives it at once. */
type Failure = WorkAnswer<Buffer>;

export interface WorkRunOptions {
  /** True until the work was queued: until then a rejection is returned to its caller. */
  readonly early: () => boolean;
  /** Aborted when another gateway has the work. */
  readonly gone: AbortSignal;
}

/** Translates stored work into what runs: each kind of work has one, on every gateway. */
export interface WorkRunner {
  /** @throws DomainError what it is answered with */
  run(work: StoredRequest, options: WorkRunOptions): Promise<WorkAnswer>;
  /**
   * Ends what the work itself keeps, before its row is marked. False: it had ended
   * otherwise. `cancelled`: so it had ended before. Absent: the row decides.
   */
  stop?(work: StoredRequest): Promise<boolean | 'cancelled'>;
  /** Its row is about to end with this error, which `run` threw or never knew. */
  fail?(work: StoredRequest, error: DomainError): Promise<void>;
}

/**
 * Runs stored work that no caller waits for, here and when another gateway died. What runs
 * here is written by `begin` and take-overs, each until its attempt has ended or is lost.
 */
@Injectable()
export class WorkRuns implements OnApplicationShutdown {
  readonly #logger = new Logger(WorkRuns.name);
  readonly #running = new Map<RequestKey, Promise<unknown>>();
  readonly #runners = new Map<string | undefined, WorkRunner>();

  constructor(
    private readonly works: StoredWork,
    private readonly leases: StoredLeases,
    private readonly retries: StorageRetries,
    private readonly cancellations: CancellationManager,
    private readonly scheduler: SchedulerService,
    private readonly events: DispatchEventBus,
  ) {
    leases.onAbandoned = attempt => void this.#resume(attempt);
  }

  /**
   * After the drain every request has an answer; it is written before
   * the database closes.
   */
  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([this.leases.close(), ...this.#running.values()]);
  }

  /**
   * Call it before the server starts.
   * @param path of the work that it runs; absent: of all that has no other runner
   */
  runWith(runner: WorkRunner, path?: string): void {
    this.#runners.set(path, runner);
  }

  /**
   * Starts an attempt that any gateway could run. Resolves with undefined when it is queued:
   * from then on it is kept, whatever fails. Else with the rejection.
   * @param onEnd called once, however it ends
   * @throws what failed before it was queued; its row may remain
   */
  async begin(attempt: WorkAttempt, onEnd?: () => void): Promise<Failure | undefined> {
    const own = keyOf(attempt.work);
    const queued = firstValueFrom(
      this.events.events$.pipe(filter(({ type, key }) => type === 'accepted' && key === own)),
      { defaultValue: undefined },
    );
    let isQueued = false;
    const ended = this.#run(attempt, () => !isQueued);
    void this.#watched(own, ended).finally(onEnd);
    try {
      return await Promise.race([queued.then(() => undefined), ended]);
    } finally {
      isQueued = true;
    }
  }

  /**
   * Stops a request, whichever gateway has it. True only if it cannot complete any more: of
   * a stored one the store decides, of others who settles it (D-53).
   * @throws DomainError when who decides does not answer
   */
  async cancel(
    { tenant = DEFAULT_TENANT, id }: RequestRef,
    reason: 'client' | 'operator',
  ): Promise<boolean> {
    // At once: its caller is settled before the database answers.
    const own = this.cancellations.cancel({ tenant, id }, reason);
    const isStopped = own.catch(() => false);
    const stored = await this.#cancelStored(tenant, id).catch(async (error: unknown) => {
      if (this.#running.has(requestKey({ tenant, id })) || !(await isStopped)) throw error;
    });
    if (stored === undefined) return own;
    return stored === 'cancelled' ? isStopped : stored;
  }

  /** Undefined: there is no such work. `cancelled`: it was, before or just now. */
  async #cancelStored(tenant: string, id: string): Promise<boolean | 'cancelled' | undefined> {
    const work = await this.works.named(id, tenant);
    if (work?.mode !== 'async') return undefined;
    const stopped = await this.#runnerOf(work).stop?.(work);
    if (stopped === false) return false;
    // Whichever gateway runs it stops.
    const marked = await this.works.cancel(work);
    return stopped ?? marked;
  }

  /**
   * Resolves with a rejection while `early` holds; afterwards the outcome is
   * in the store.
   */
  async #run(
    { work, gone, release }: WorkAttempt,
    early: () => boolean,
  ): Promise<Failure | undefined> {
    const runner = this.#runnerOf(work);
    try {
      for (let attempts = 1; !gone.aborted; attempts++) {
        const failed = await runner
          .run(work, { early, gone })
          .then(answer => this.#complete(work, answer))
          .catch(failureOf);
        if (!failed) return undefined;
        if (gone.aborted) break;
        if (early()) {
          await this.works.drop(work);
          return failed;
        }
        const text = failed.body.toString();
        // Another gateway can run it.
        if (text.includes('"shutting_down"')) return undefined;
        if (!PASSING.test(text) || Date.now() >= work.expiresAtMs)
          return await this.#endWith(work, failed.status === 499 ? 'cancelled' : 'failed', failed);
        await pause(backoffMs(attempts, PAUSES), gone);
      }
      return undefined;
    } finally {
      release();
    }
  }

  /** Undefined: it is completed. @throws DomainError when its answer finds no room now */
  async #complete(work: StoredRequest, answer: WorkAnswer): Promise<Failure | undefined> {
    if (answer.status < 400) return this.#end(work, 'completed', answer);
    return { ...answer, body: await storedText(answer.body) };
  }

  /** The outcome of a request that has no answer: while the stores are away, it waits. */
  #endWith(work: StoredRequest, status: StoredEnd, answer: Failure): Promise<undefined> {
    return this.retries.written(async () => {
      if (answer.error) await this.#runnerOf(work).fail?.(work, answer.error);
      return this.#end(work, status, { ...answer, body: Readable.from([answer.body]) });
    });
  }

  async #end(work: StoredRequest, status: StoredEnd, answer: WorkAnswer): Promise<undefined> {
    if ((await this.works.answer(work, status, answer)) !== 'cancelling') return;
    this.scheduler.withdraw(keyOf(work));
    const message = 'The request was cancelled by its caller.';
    await this.#endWith(
      work,
      'cancelled',
      failureOf(new DomainError('request_cancelled', message)),
    );
  }

  #resume(attempt: WorkAttempt): Promise<void> {
    const { work, release } = attempt;
    const key = keyOf(work);
    if (work.losses < MOST_LOSSES)
      return this.#watched(
        key,
        this.#run(attempt, () => false),
      );
    const error = new DomainError(
      'gateway_lost',
      `${MOST_LOSSES} attempts were lost: their gateways ended, or failed at this request.`,
    );
    // Its attempts also count those that gave it back in order, and this gateway, which
    // only records the failure.
    const headers = { ...JSON_TYPE, 'x-switchyard-attempts': String(MOST_LOSSES) };
    const failure = { ...failureOf(error), headers };
    return this.#watched(key, this.#endWith(work, 'failed', failure).finally(release));
  }

  /** After a failure here another gateway takes the work over when the lease ends. */
  async #watched(key: RequestKey, run: Promise<unknown>): Promise<void> {
    const watched = run.catch((error: unknown) =>
      this.#logger.error({ err: error }, 'an async request could not be finished here'),
    );
    this.#running.set(key, watched);
    await watched;
    if (this.#running.get(key) === watched) this.#running.delete(key);
  }

  #runnerOf({ path }: StoredRequest): WorkRunner {
    return this.#runners.get(path) ?? this.#runners.get(undefined)!;
  }
}

const keyOf = ({ tenant, requestId: id }: StoredRequest): RequestKey => requestKey({ tenant, id });

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

function failureOf(error: unknown): Failure {
  if (!(error instanceof DomainError)) throw error;
  const body = Buffer.from(writeJson(errorEnvelope(error)));
  return { status: errorDefinition(error).status, headers: JSON_TYPE, body, error };
}

export const jsonAnswer = (status: number, body: object): WorkAnswer => ({
  status,
  headers: JSON_TYPE,
  body: Readable.from([Buffer.from(writeJson(body))]),
});
