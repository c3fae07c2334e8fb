import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { filter, firstValueFrom, type Subscription } from 'rxjs';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type StoredEnd, type StoredRequest, type StoredRequestStore } from '../../core/request/stored-request.port.js';
import { requestKey } from '../../core/request/request-key.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { STORED_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type InnerAnswer, InnerRequests } from './inner-requests.js';
import { headOf, StoredAnswers, storedText } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';

/** Gateway deaths tolerated per request: after these, the request itself is the likely cause. */
const MOST_ATTEMPTS = 3;
/** Codes of what returns without help. */
const AWAY = /"(queue|upstream)_unavailable"/;
/** Pause before such a request is queued again. */
const REQUEUE_MS = 1000;

/** The request was rejected before it was queued: its caller receives this at once. */
interface EarlyAnswer {
  readonly status: number;
  /** Absent: only the body has it. */
  readonly error?: DomainError;
  readonly headers: InnerAnswer['headers'];
  readonly body: Buffer;
}

/** Runs one stored request in place of its route. @param early true until it was queued: a rejection is its caller's */
export type StoredRequestRunner = (request: StoredRequest, early: () => boolean) => Promise<InnerAnswer>;

/** Runs requests whose callers do not wait. If a gateway dies, another one runs its requests from the stored body. */
@Injectable()
export class AsyncRequests implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(AsyncRequests.name);
  readonly #running = new Set<Promise<unknown>>();
  readonly #runners = new Map<string, StoredRequestRunner>();
  #abandoned: Subscription | undefined;

  constructor(
    @Inject(STORED_REQUEST_STORE) private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly inner: InnerRequests,
    private readonly leases: StoredLeases,
    private readonly events: DispatchEventBus,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.#abandoned = this.leases.abandoned$.subscribe(request => void this.#resume(request));
  }

  /** Requests of that path are run by `runner`, here and on every other gateway. Call it before the server starts. */
  runWith(path: string, runner: StoredRequestRunner): void {
    this.#runners.set(path, runner);
  }

  /** After the drain every request has an answer; it is written before the database closes. */
  async onApplicationShutdown(): Promise<void> {
    this.#abandoned?.unsubscribe();
    await Promise.allSettled(this.#running);
  }

  /**
   * Starts a request whose body is stored. Resolves with undefined when it is queued, else with the rejection.
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

  /** Resolves with a rejection while `early` holds; afterwards the outcome is in the store. */
  async #run(request: StoredRequest, early: () => boolean): Promise<EarlyAnswer | undefined> {
    const release = this.leases.hold(request);
    try {
      const runner = this.#runners.get(request.path);
      const answer = await (runner ? runner(request, early) : this.#throughRoute(request));
      return await this.#outcome(request, answer, early);
    } finally {
      release();
    }
  }

  async #throughRoute(request: StoredRequest): Promise<InnerAnswer> {
    const { requestId, tenant, path, headers } = request;
    const bytes = await this.answers.bodySize(request);
    const body = Readable.from(this.answers.body(request), { objectMode: false });
    return this.inner.run({ requestId, tenant, path, headers, body, ...(bytes !== undefined && { bytes }) });
  }

  async #outcome(request: StoredRequest, answer: InnerAnswer, early: () => boolean): Promise<EarlyAnswer | undefined> {
    if (answer.status < 400) {
      await this.#end(request, 'completed', answer);
      return undefined;
    }
    const body = await storedText(answer.body);
    if (early()) {
      await this.store.drop(request, this.leases.owner);
      await this.answers.remove([request]);
      return { ...answer, body };
    }
    // The request was accepted, so it must run: it is queued again until Redis, or its upstream, is back.
    if (AWAY.test(body.toString()) && this.leases.nowMs() < request.expiresAtMs) {
      await sleep(REQUEUE_MS);
      return this.#run(request, early);
    }
    // This gateway shuts down; another one can run the request.
    if (body.includes('"shutting_down"')) await this.store.release(request, this.leases.owner);
    else
      await this.#end(request, answer.status === 499 ? 'cancelled' : 'failed', {
        ...answer,
        body: Readable.from([body]),
      });
    return undefined;
  }

  async #end(request: StoredRequest, status: StoredEnd, answer: InnerAnswer): Promise<void> {
    await this.answers.store(request, answer.body as AsyncIterable<Uint8Array>);
    const endedAtMs = this.leases.nowMs();
    const expiresAtMs = endedAtMs + this.settings.requests.keepMs;
    const ended = await this.store.end(request, this.leases.owner, {
      status,
      answer: headOf(answer),
      endedAtMs,
      expiresAtMs,
    });
    if (ended) await this.answers.removeBody(request);
  }

  async #resume(request: StoredRequest): Promise<void> {
    if (request.attempts <= MOST_ATTEMPTS) {
      await this.#watched(this.#run(request, () => false));
      return;
    }
    const error = new DomainError('gateway_lost', `${MOST_ATTEMPTS} gateways ended while they had this request.`);
    const body = Readable.from([Buffer.from(JSON.stringify(errorEnvelope(error)))]);
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      // This gateway counts as an attempt in the store, although it only records the failure.
      'x-switchyard-attempts': String(MOST_ATTEMPTS),
    };
    await this.#watched(this.#end(request, 'failed', { status: error.definition.status, headers, body }));
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
