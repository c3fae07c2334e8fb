import { Readable } from 'node:stream';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { filter, firstValueFrom } from 'rxjs';
import { errorDefinition } from '../../contracts/errors/error-registry.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { requestKey } from '../../core/request/request-key.js';
import { type StoredEnd, type StoredRequest } from '../../core/request/stored-request.js';
import { pause } from '../../platform/clock/pause.js';
import { StoredRequestStore } from '../../platform/database/stored-request-store.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type InnerAnswer, InnerRequests } from './inner-requests.js';
import { headOf, StoredAnswers, storedText } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';

/** Gateway deaths per request: after these, the request itself is the likely cause. */
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

  constructor(
    private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly inner: InnerRequests,
    private readonly leases: StoredLeases,
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

  /** True if it runs on any gateway; that one stops it at its next renewal. */
  async cancel(tenant: string, requestId: string): Promise<boolean> {
    const request = await this.store.findById(requestId, tenant);
    const runner = request && this.#runners.get(request.path);
    return runner ? runner.stop(request) : this.store.requestCancel(tenant, requestId);
  }

  /**
   * After the drain every request has an answer; it is written before
   * the database closes.
   */
  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([this.leases.close(), ...this.#running]);
  }

  /**
   * Starts a request whose body is stored. Resolves with undefined when it is queued,
   * else with the rejection.
   * @param onEnd called once, however it ends
   */
  async begin(request: StoredRequest, onEnd: () => void): Promise<EarlyAnswer | undefined> {
    const own = requestKey({ tenant: request.tenant, id: request.requestId });
    const queued = firstValueFrom(
      this.events.events$.pipe(filter(({ type, key }) => type === 'accepted' && key === own)),
      { defaultValue: undefined },
    );
    let isQueued = false;
    const ended = this.#watched(this.#run(request, () => !isQueued)).finally(onEnd);
    const early = await Promise.race([queued.then(() => undefined), ended]);
    isQueued = true;
    return early;
  }

  /**
   * Resolves with a rejection while `early` holds; afterwards the outcome is
   * in the store.
   */
  async #run(request: StoredRequest, early: () => boolean): Promise<EarlyAnswer | undefined> {
    const { gone, release } = this.leases.hold(request);
    const runner = this.#runners.get(request.path);
    try {
      for (let attempts = 1; !gone.aborted; attempts++) {
        const said = await (runner
          ? runner.run(request, { early, gone }).catch(rejection)
          : this.#throughRoute(request, gone));
        const answer = await this.#answer(request, said);
        if (!answer) return undefined;
        const body = await storedText(answer.body);
        if (gone.aborted) break;
        if (early()) return await this.#reject(request, { ...answer, body });
        const waits = PASSING.test(body.toString()) && Date.now() < request.expiresAtMs;
        if (!waits) return await this.#fail(request, answer, body);
        await pause(backoffMs(attempts, PAUSES), gone);
      }
      return undefined;
    } finally {
      release();
    }
  }

  async #throughRoute(request: StoredRequest, caller: AbortSignal): Promise<InnerAnswer> {
    const bytes = await this.answers.bodySize(request);
    const body = Readable.from(this.answers.body(request), { objectMode: false });
    return this.inner.run({ ...request, body, caller, bytes });
  }

  /**
   * Undefined: it is completed. An answer that finds no room now is a
   * failure that passes.
   */
  async #answer(request: StoredRequest, answer: InnerAnswer): Promise<InnerAnswer | undefined> {
    if (answer.status >= 400) return answer;
    try {
      return await this.#end(request, 'completed', answer);
    } catch (error) {
      if (!(error instanceof DomainError) || !PASSING.test(`"${error.code}"`)) throw error;
      return errorAnswer(error);
    }
  }

  async #reject(request: StoredRequest, answer: EarlyAnswer): Promise<EarlyAnswer> {
    await this.store.drop(request);
    await this.answers.remove([request]);
    return answer;
  }

  async #fail(request: StoredRequest, answer: InnerAnswer, body: Buffer): Promise<undefined> {
    // This gateway shuts down; another one can run the request.
    if (body.includes('"shutting_down"')) return;
    const status = answer.status === 499 ? 'cancelled' : 'failed';
    await this.#end(request, status, { ...answer, body: Readable.from([body]) });
  }

  async #end(request: StoredRequest, status: StoredEnd, answer: InnerAnswer): Promise<undefined> {
    const isWhole = await this.answers.store(
      request,
      answer,
      answer.body as AsyncIterable<Uint8Array>,
    );
    const outcome = await this.leases.end(request, {
      status: isWhole ? status : 'failed',
      answer: headOf(answer),
    });
    if (outcome === 'ended') await this.answers.removeBody(request);
    if (outcome === 'cancelling') await this.#end(request, 'cancelled', errorAnswer(cancelled()));
  }

  async #resume(request: StoredRequest): Promise<void> {
    if (request.losses < MOST_LOSSES) {
      await this.#watched(this.#run(request, () => false));
      return;
    }
    const error = new DomainError(
      'gateway_lost',
      `${MOST_LOSSES} gateways ended while they had this request.`,
    );
    // Its attempts also count those that gave it back in order, and this gateway, which
    // only records the failure.
    const headers = { 'x-switchyard-attempts': String(MOST_LOSSES) };
    await this.#watched(this.#end(request, 'failed', errorAnswer(error, headers)));
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

const cancelled = (): DomainError =>
  new DomainError('request_cancelled', 'The request was cancelled by its caller.');

const errorAnswer = (error: DomainError, headers: InnerAnswer['headers'] = {}): InnerAnswer => ({
  ...jsonAnswer(errorDefinition(error).status, errorEnvelope(error), headers),
  error,
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
