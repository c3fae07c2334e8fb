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
import { StoredRequestStore } from '../../platform/database/stored-request-store.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { type InnerAnswer, InnerRequests } from './inner-requests.js';
import { StoredAnswers, storedText } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';

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

/** The request was rejected before it was queued: its caller receives this at once. */
type EarlyAnswer = Omit<InnerAnswer, 'body'> & { readonly body: Buffer };

export interface StoredAttemptOptions {
  /** True until it was queued: a rejection is its caller's. */
  readonly early: () => boolean;
  /** Aborted when another gateway has the request. */
  readonly gone: AbortSignal;
}

/** In place of the route of a stored request. */
interface StoredRequestRunner {
  /** @throws DomainError what it is answered with */
  run(request: StoredRequest, attempt: StoredAttemptOptions): Promise<InnerAnswer>;
  /** Cancels it on any gateway. Resolves with false when it has ended. */
  stop(request: StoredRequest): Promise<boolean>;
}

/**
 * Runs requests whose callers do not wait. If a gateway dies, another one runs its
 * requests from the stored body.
 */
@Injectable()
export class AsyncRequests implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(AsyncRequests.name);
  readonly #running = new Set<Promise<unknown>>();
  readonly #runners = new Map<string, StoredRequestRunner>();
  readonly #runsHere = new Set<RequestKey>();

  constructor(
    private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly inner: InnerRequests,
    private readonly leases: StoredLeases,
    private readonly scheduler: SchedulerService,
    private readonly events: DispatchEventBus,
  ) {}

  onModuleInit(): void {
    this.leases.onAbandoned = request => void this.#resume(request);
  }

  /**
   * Requests of that path are run and cancelled by `runner`, here and on every other
   * gateway. Call it before the server starts.
   */
  runWith(path: string, runner: StoredRequestRunner): void {
    this.#runners.set(path, runner);
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
      this.scheduler.cancel({ tenant, id }, reason),
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

  /** Undefined: there is no such async request. `cancelled`: it was, before or just now. */
  async #cancelStored(tenant: string, id: string): Promise<boolean | 'cancelled' | undefined> {
    const request = await this.store.findById(id, tenant);
    if (request?.mode !== 'async') return undefined;
    const runner = this.#runners.get(request.path);
    if (await (runner ? runner.stop(request) : this.store.requestCancel(tenant, id))) return true;
    return (await this.store.findById(id, tenant))?.status === 'cancelled' && 'cancelled';
  }

  /**
   * After the drain every request has an answer; it is written before
   * the database closes.
   */
  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([this.leases.close(), ...this.#running]);
  }

  /**
   * Starts a request whose body is stored. Resolves with undefined when it is queued: from
   * then on it is kept, whatever fails. Else with the rejection.
   * @param onEnd called once, however it ends
   * @throws what failed before it was queued; its row may remain
   */
  async begin(request: StoredRequest, onEnd: () => void): Promise<EarlyAnswer | undefined> {
    const own = keyOf(request);
    const queued = firstValueFrom(
      this.events.events$.pipe(filter(({ type, key }) => type === 'accepted' && key === own)),
      { defaultValue: undefined },
    );
    let isQueued = false;
    const ended = this.#run(request, () => !isQueued);
    void this.#watched(ended).finally(onEnd);
    try {
      return await Promise.race([queued.then(() => undefined), ended]);
    } finally {
      isQueued = true;
    }
  }

  /**
   * Resolves with a rejection while `early` holds; afterwards the outcome is
   * in the store.
   */
  async #run(request: StoredRequest, early: () => boolean): Promise<EarlyAnswer | undefined> {
    const { gone, release } = this.leases.hold(request);
    const runner = this.#runners.get(request.path);
    const key = keyOf(request);
    this.#runsHere.add(key);
    try {
      for (let attempts = 1; !gone.aborted; attempts++) {
        const said = await (
          runner ? runner.run(request, { early, gone }) : this.#throughRoute(request, gone)
        ).catch(rejection);
        const answer = await this.#answer(request, said);
        if (!answer) return undefined;
        const failed = await whole(answer);
        if (gone.aborted) break;
        if (early()) return await this.#reject(request, failed);
        const waits = PASSING.test(failed.body.toString()) && Date.now() < request.expiresAtMs;
        if (!waits) return await this.#fail(request, failed);
        await pause(backoffMs(attempts, PAUSES), gone);
      }
      return undefined;
    } finally {
      this.#runsHere.delete(key);
      release();
    }
  }

  async #throughRoute(request: StoredRequest, caller: AbortSignal): Promise<InnerAnswer> {
    const stored = await this.answers.openBody(request);
    const body = Readable.from(stored.body, { objectMode: false });
    return this.inner.run({ ...request, ...stored, body, caller });
  }

  /**
   * Undefined: it is completed. An answer that finds no room now is a
   * failure that passes.
   */
  async #answer(request: StoredRequest, answer: InnerAnswer): Promise<InnerAnswer | undefined> {
    if (answer.status >= 400) return answer;
    return this.#end(request, 'completed', answer).catch(rejection);
  }

  async #reject(request: StoredRequest, answer: EarlyAnswer): Promise<EarlyAnswer> {
    await this.store.drop(request);
    await this.answers.remove([request]);
    return answer;
  }

  async #fail(request: StoredRequest, answer: EarlyAnswer): Promise<undefined> {
    // This gateway shuts down; another one can run the request.
    if (answer.body.includes('"shutting_down"')) return;
    await this.#endWith(request, answer.status === 499 ? 'cancelled' : 'failed', answer);
  }

  /** The outcome of a request that has no answer: while the stores are away, it waits. */
  #endWith(request: StoredRequest, status: StoredEnd, answer: EarlyAnswer): Promise<undefined> {
    return this.leases.retries.written(() =>
      this.#end(request, status, { ...answer, body: Readable.from([answer.body]) }),
    );
  }

  async #end(request: StoredRequest, status: StoredEnd, answer: InnerAnswer): Promise<undefined> {
    const stored = await this.answers.store(
      request,
      answer,
      answer.body as AsyncIterable<Uint8Array>,
    );
    const outcome = await this.leases.end(request, {
      status: stored.isWhole ? status : 'failed',
      answer: stored.answer,
    });
    if (outcome === 'ended') await this.answers.removeBody(request);
    if (outcome !== 'cancelling') return;
    this.scheduler.withdraw(keyOf(request));
    const { requestId } = request;
    this.#logger.log({ requestId }, 'cancelled when its answer was computed: it is withdrawn');
    await this.#endWith(request, 'cancelled', await whole(errorAnswer(cancelled())));
  }

  async #resume(request: StoredRequest): Promise<void> {
    if (request.losses < MOST_LOSSES) {
      await this.#watched(this.#run(request, () => false));
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
    await this.#watched(this.#endWith(request, 'failed', answer));
  }

  /** After a failure here another gateway takes the request over when the lease ends. */
  #watched<T>(work: Promise<T>): Promise<T | undefined> {
    const watched = work.catch((error: unknown) => {
      this.#logger.error({ err: error }, 'an async request could not be finished here');
      return undefined;
    });
    this.#running.add(watched);
    void watched.finally(() => this.#running.delete(watched));
    return watched;
  }
}

const keyOf = ({ tenant, requestId: id }: StoredRequest): RequestKey => requestKey({ tenant, id });

const cancelled = (): DomainError =>
  new DomainError('request_cancelled', 'The request was cancelled by its caller.');

const errorAnswer = (error: DomainError, headers: InnerAnswer['headers'] = {}): InnerAnswer => ({
  ...jsonAnswer(errorDefinition(error).status, errorEnvelope(error), headers),
  error,
});

const whole = async (answer: InnerAnswer): Promise<EarlyAnswer> => ({
  ...answer,
  body: await storedText(answer.body),
});

function rejection(error: unknown): InnerAnswer {
  if (error instanceof DomainError) return errorAnswer(error);
  throw error;
}

export const jsonAnswer = (
  status: number,
  body: object,
  headers: InnerAnswer['headers'] = {},
): InnerAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Readable.from([Buffer.from(writeJson(body))]),
});
