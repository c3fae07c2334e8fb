import { Readable } from 'node:stream';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
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
import { pause } from '../../platform/clock/pause.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { StorageRetries } from './storage-retries.js';
import { storedText } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';
import { StoredWork, type WorkAnswer, type WorkAttempt } from './stored-work.js';

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

/** The work was rejected before it was queued: its caller receives this at once. */
type EarlyAnswer = Omit<WorkAnswer, 'body'> & { readonly body: Buffer };

export interface WorkRunOptions {
  /** True until it was queued: a rejection is its caller's. */
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
export class WorkRuns implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(WorkRuns.name);
  readonly #running = new Set<Promise<unknown>>();
  readonly #runners = new Map<string | undefined, WorkRunner>();
  readonly #runsHere = new Set<RequestKey>();

  constructor(
    private readonly works: StoredWork,
    private readonly leases: StoredLeases,
    private readonly retries: StorageRetries,
    private readonly cancellations: CancellationManager,
    private readonly scheduler: SchedulerService,
    private readonly events: DispatchEventBus,
  ) {}

  onModuleInit(): void {
    this.leases.onAbandoned = work => void this.#resume(work);
  }

  /**
   * After the drain every request has an answer; it is written before
   * the database closes.
   */
  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([this.leases.close(), ...this.#running]);
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
  async begin(attempt: WorkAttempt, onEnd?: () => void): Promise<EarlyAnswer | undefined> {
    const own = keyOf(attempt.work);
    const queued = firstValueFrom(
      this.events.events$.pipe(filter(({ type, key }) => type === 'accepted' && key === own)),
      { defaultValue: undefined },
    );
    let isQueued = false;
    const ended = this.#run(attempt, () => !isQueued);
    void this.#watched(ended).finally(onEnd);
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
    const [own, stored] = await Promise.allSettled([
      this.cancellations.cancel({ tenant, id }, reason),
      this.#cancelStored(tenant, id),
    ]);
    const isStopped = own.status === 'fulfilled' && own.value;
    if (stored.status === 'rejected') {
      if (isStopped && !this.#runsHere.has(requestKey({ tenant, id }))) return true;
      throw stored.reason;
    }
    if (stored.value === 'cancelled') return isStopped;
    if (stored.value !== undefined) return stored.value;
    if (own.status === 'rejected') throw own.reason;
    return isStopped;
  }

  /** Undefined: there is no such work. `cancelled`: it was, before or just now. */
  async #cancelStored(tenant: string, id: string): Promise<boolean | 'cancelled' | undefined> {
    const work = await this.works.named(id, tenant);
    if (work?.mode !== 'async') return undefined;
    const stopped = await this.#runnerOf(work).stop?.(work);
    if (stopped === false) return false;
    // Whichever gateway runs it stops.
    const isMarked = await this.works.requestCancel(tenant, id);
    if (stopped ?? isMarked) return stopped ?? true;
    return (await this.works.named(id, tenant))?.status === 'cancelled' && 'cancelled';
  }

  /**
   * Resolves with a rejection while `early` holds; afterwards the outcome is
   * in the store.
   */
  async #run(
    { work, gone, release }: WorkAttempt,
    early: () => boolean,
  ): Promise<EarlyAnswer | undefined> {
    const runner = this.#runnerOf(work);
    const key = keyOf(work);
    this.#runsHere.add(key);
    try {
      for (let attempts = 1; !gone.aborted; attempts++) {
        const said = await runner.run(work, { early, gone }).catch(rejection);
        const answer = await this.#complete(work, said);
        if (!answer) return undefined;
        const failed = await whole(answer);
        if (gone.aborted) break;
        if (early()) {
          await this.works.drop(work);
          return failed;
        }
        const waits = PASSING.test(failed.body.toString()) && Date.now() < work.expiresAtMs;
        if (!waits) return await this.#fail(work, failed);
        await pause(backoffMs(attempts, PAUSES), gone);
      }
      return undefined;
    } finally {
      this.#runsHere.delete(key);
      release();
    }
  }

  /**
   * Undefined: it is completed. An answer that finds no room now is a
   * failure that passes.
   */
  async #complete(work: StoredRequest, answer: WorkAnswer): Promise<WorkAnswer | undefined> {
    if (answer.status >= 400) return answer;
    return this.#end(work, 'completed', answer).catch(rejection);
  }

  async #fail(work: StoredRequest, answer: EarlyAnswer): Promise<undefined> {
    // This gateway shuts down; another one can run the request.
    if (answer.body.includes('"shutting_down"')) return;
    await this.#endWith(work, answer.status === 499 ? 'cancelled' : 'failed', answer);
  }

  /** The outcome of a request that has no answer: while the stores are away, it waits. */
  #endWith(work: StoredRequest, status: StoredEnd, answer: EarlyAnswer): Promise<undefined> {
    return this.retries.written(async () => {
      if (answer.error) await this.#runnerOf(work).fail?.(work, answer.error);
      return this.#end(work, status, { ...answer, body: Readable.from([answer.body]) });
    });
  }

  async #end(work: StoredRequest, status: StoredEnd, answer: WorkAnswer): Promise<undefined> {
    const outcome = await this.works.answer(work, status, answer);
    if (outcome !== 'cancelling') return;
    this.scheduler.withdraw(keyOf(work));
    await this.#endWith(work, 'cancelled', await whole(errorAnswer(cancelled())));
  }

  async #resume(work: StoredRequest): Promise<void> {
    const attempt = this.works.attempt(work);
    if (work.losses < MOST_LOSSES) {
      await this.#watched(this.#run(attempt, () => false));
      return;
    }
    const error = new DomainError(
      'gateway_lost',
      `${MOST_LOSSES} attempts were lost: their gateways ended, or failed at this request.`,
    );
    // Its attempts also count those that gave it back in order, and this gateway, which
    // only records the failure.
    const headers = { 'x-switchyard-attempts': String(MOST_LOSSES) };
    const answer = await whole(errorAnswer(error, headers));
    await this.#watched(this.#endWith(work, 'failed', answer).finally(attempt.release));
  }

  /** After a failure here another gateway takes the work over when the lease ends. */
  #watched<T>(run: Promise<T>): Promise<T | undefined> {
    const watched = run.catch((error: unknown) => {
      this.#logger.error({ err: error }, 'an async request could not be finished here');
      return undefined;
    });
    this.#running.add(watched);
    void watched.finally(() => this.#running.delete(watched));
    return watched;
  }

  #runnerOf({ path }: StoredRequest): WorkRunner {
    return this.#runners.get(path) ?? this.#runners.get(undefined)!;
  }
}

const keyOf = ({ tenant, requestId: id }: StoredRequest): RequestKey => requestKey({ tenant, id });

const cancelled = (): DomainError =>
  new DomainError('request_cancelled', 'The request was cancelled by its caller.');

const errorAnswer = (error: DomainError, headers: WorkAnswer['headers'] = {}): WorkAnswer => ({
  ...jsonAnswer(errorDefinition(error).status, errorEnvelope(error), headers),
  error,
});

const whole = async (answer: WorkAnswer): Promise<EarlyAnswer> => ({
  ...answer,
  body: await storedText(answer.body),
});

function rejection(error: unknown): WorkAnswer {
  if (error instanceof DomainError) return errorAnswer(error);
  throw error;
}

export const jsonAnswer = (
  status: number,
  body: object,
  headers: WorkAnswer['headers'] = {},
): WorkAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Readable.from([Buffer.from(writeJson(body))]),
});
