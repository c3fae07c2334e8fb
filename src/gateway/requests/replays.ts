import { PassThrough, Readable, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { type StoredRequest, type StoredRequestStore } from '../../core/request/stored-request.port.js';
import { backoffMs } from '../../core/shared/backoff.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { KEPT_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { watchDisconnect } from '../inference/disconnect-watch.js';
import { InnerRequests, type InnerAnswer, type InnerRequest } from './inner-requests.js';
import { headOf, StoredAnswers } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';

const LOOKS = { firstMs: 100, longestMs: 1000 };
/** Of the connection, or set anew by it. */
const OWN_HEADERS = ['connection', 'date', 'transfer-encoding', 'x-request-id', 'openai-processing-ms', 'keep-alive'];

/** Requests whose callers wait, and may ask again: the first attempt runs and is kept, the others get what it got. */
@Injectable()
export class Replays implements OnApplicationShutdown {
  readonly #logger = new Logger(Replays.name);
  readonly #keeping = new Set<Promise<void>>();

  constructor(
    @Inject(KEPT_REQUEST_STORE) private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly inner: InnerRequests,
    private readonly leases: StoredLeases,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** What was answered last is written before the database closes. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.#keeping);
  }

  /**
   * Runs it, writes its answer, and keeps that when it is a good one. What went wrong is better tried again.
   * @param fingerprint asked for once all of the body has come
   */
  async first(
    request: StoredRequest,
    sent: Pick<InnerRequest, 'body' | 'headers' | 'bytes'>,
    reply: FastifyReply,
    fingerprint: () => string,
  ): Promise<void> {
    const { requestId, tenant, path } = request;
    const letGo = this.leases.hold(request);
    const caller = new AbortController();
    const unwatch = watchDisconnect(reply, () => caller.abort());
    let kept: Promise<void> = Promise.resolve();
    try {
      const answer = await this.inner.run({ requestId, tenant, path, ...sent, caller: caller.signal });
      void reply.code(answer.status).headers(ownless(answer.headers));
      if (answer.status === 200) {
        const toStore = new PassThrough();
        kept = this.#tracked(this.#keep(request, answer, toStore, fingerprint));
        void reply.send(split(answer, toStore, kept));
      } else {
        await this.drop(request);
        void reply.send(answer.body);
      }
    } catch (error) {
      await this.drop(request);
      throw error;
    } finally {
      unwatch();
      void kept.finally(letGo);
    }
  }

  /** What was answered then. */
  replay(request: StoredRequest, reply: FastifyReply): void {
    const { status = 200, headers = {} } = request.answer ?? {};
    void reply
      .code(status)
      .headers({ ...headers, 'idempotent-replayed': 'true' })
      .send(Readable.from(this.answers.answer(request), { objectMode: false }));
  }

  /**
   * Resolves with the request once it has ended, or undefined when it has to be begun anew: it failed, or its gateway died.
   * @throws DomainError `duplicate_request_id` when it still runs after `requests.join_ms`
   */
  async join(request: StoredRequest, left: () => boolean): Promise<StoredRequest | undefined> {
    const ended = await this.#awaited(request, left, ({ status }) => status === 'receiving' || status === 'running');
    return ended?.status === 'completed' ? ended : undefined;
  }

  /**
   * Resolves with the request once its body is stored, so that it can be promised; undefined: its upload broke off.
   * @throws DomainError `duplicate_request_id` when it still arrives after `requests.join_ms`
   */
  received(request: StoredRequest, left: () => boolean): Promise<StoredRequest | undefined> {
    return this.#awaited(request, left, ({ status }) => status === 'receiving');
  }

  /** As if it had never come; without the database its lease ends. Never rejects. */
  async drop(request: StoredRequest): Promise<void> {
    await this.store
      .drop(request, this.leases.owner)
      .catch((error: unknown) => this.#logger.warn({ reason: (error as Error).message }, 'a row was not removed'));
  }

  /** Undefined: it is gone, replaced, or nobody goes on with it. */
  async #awaited(
    request: StoredRequest,
    left: () => boolean,
    isOpen: (now: StoredRequest) => boolean,
  ): Promise<StoredRequest | undefined> {
    const endMs = performance.now() + this.settings.requests.joinMs;
    let now: StoredRequest | undefined = request;
    for (let looks = 1; !left(); looks++) {
      const pauseMs = backoffMs(looks, LOOKS);
      if (now?.blob !== request.blob) return undefined;
      if (!isOpen(now)) return now;
      if (now.leaseUntilMs <= this.leases.nowMs()) return undefined;
      if (performance.now() + pauseMs > endMs) throw stillRunning(request);
      await sleep(pauseMs);
      now = await this.store.find(request);
    }
    throw new DomainError('request_cancelled', 'The caller left.');
  }

  #tracked(keeping: Promise<void>): Promise<void> {
    this.#keeping.add(keeping);
    return keeping.finally(() => this.#keeping.delete(keeping));
  }

  /** Never rejects. */
  async #keep(
    request: StoredRequest,
    answer: InnerAnswer,
    bytes: PassThrough,
    fingerprint: () => string,
  ): Promise<void> {
    try {
      await this.answers.keep(request, bytes);
      const endedAtMs = this.leases.nowMs();
      const expiresAtMs = endedAtMs + this.settings.requests.keepMs;
      const head = { answer: headOf(answer), fingerprint: fingerprint() };
      const end = { status: 'completed', ...head, endedAtMs, expiresAtMs } as const;
      await this.store.end(request, this.leases.owner, end);
    } catch (error) {
      // An answer that broke in the middle is nobody's answer.
      this.#logger.warn({ reason: (error as Error).message }, 'an answer could not be kept for a retry');
      await this.drop(request);
      await this.answers.forget([request]).catch(() => undefined);
    }
  }
}

/**
 * Both get every byte, at the pace of the slower one; the caller gets its last bytes when the answer is kept, so whoever has all of it
 * can count on a retry to find it.
 */
function split({ body }: InnerAnswer, toStore: PassThrough, kept: Promise<void>): Transform {
  let last: Buffer | undefined;
  const toCaller = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      const ready = last;
      last = chunk;
      done(null, ready);
    },
    flush: done => void kept.then(() => done(null, last)),
  });
  body.on('error', error => {
    toCaller.destroy(error);
    toStore.destroy(error);
  });
  // A caller that left destroys its own half.
  toCaller.on('error', () => undefined);
  body.pipe(toStore);
  body.pipe(toCaller);
  return toCaller;
}

const ownless = (headers: InnerAnswer['headers']): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !OWN_HEADERS.includes(name))
      .map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );

const stillRunning = ({ requestId }: StoredRequest): DomainError =>
  new DomainError('duplicate_request_id', `The first attempt, ${requestId}, is still running.`, { retryAfterMs: 1000 });
