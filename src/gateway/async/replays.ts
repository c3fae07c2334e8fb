import { PassThrough, Readable, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { type KeptRequest, type KeptRequestStore } from '../../core/kept/kept-request.port.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { KEPT_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { watchDisconnect } from '../api/disconnect-watch.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { InnerRequests, type InnerAnswer, type InnerRequest } from './inner-requests.js';
import { headOf, KeptAnswers } from './kept-answers.js';
import { KeptLeases } from './kept-leases.js';

const LOOK_MS = 100;
const LONGEST_LOOK_MS = 1000;
/** Of the connection, or set anew by it. */
const OWN_HEADERS = ['connection', 'date', 'transfer-encoding', 'x-request-id', 'openai-processing-ms', 'keep-alive'];

/** Requests whose callers wait, and may ask again: the first attempt runs and is kept, the others get what it got. */
@Injectable()
export class Replays implements OnApplicationShutdown {
  readonly #logger = new Logger(Replays.name);
  readonly #keeping = new Set<Promise<void>>();

  constructor(
    @Inject(KEPT_REQUEST_STORE) private readonly store: KeptRequestStore,
    private readonly answers: KeptAnswers,
    private readonly inner: InnerRequests,
    private readonly leases: KeptLeases,
    private readonly scheduler: SchedulerService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** What was answered last is written before the database closes. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.#keeping);
  }

  /** Runs it, writes its answer, and keeps that when it is a good one. What went wrong is better tried again. */
  async first(
    request: KeptRequest,
    sent: Pick<InnerRequest, 'body' | 'headers' | 'bytes'>,
    reply: FastifyReply,
  ): Promise<void> {
    const { requestId, tenant, path } = request;
    const letGo = this.leases.hold();
    const unwatch = watchDisconnect(reply, () => void this.scheduler.cancel(requestId, 'disconnect'));
    let kept: Promise<void> = Promise.resolve();
    try {
      const answer = await this.inner.run({ requestId, tenant, path, ...sent });
      void reply.code(answer.status).headers(ownless(answer.headers));
      if (answer.status === 200) {
        const toStore = new PassThrough();
        kept = this.#tracked(this.#keep(request, answer, toStore));
        void reply.send(split(answer, toStore, kept));
      } else {
        await this.store.drop(request, this.leases.owner);
        void reply.send(answer.body);
      }
    } catch (error) {
      await this.store.drop(request, this.leases.owner);
      throw error;
    } finally {
      unwatch();
      void kept.finally(letGo);
    }
  }

  /** What was answered then. */
  replay(request: KeptRequest, reply: FastifyReply): void {
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
  async join(request: KeptRequest, left: () => boolean): Promise<KeptRequest | undefined> {
    const endMs = performance.now() + this.settings.requests.joinMs;
    for (let pauseMs = LOOK_MS; !left(); pauseMs = Math.min(2 * pauseMs, LONGEST_LOOK_MS)) {
      const now = await this.store.find(request);
      if (now?.requestId !== request.requestId || now.leaseUntilMs <= Date.now())
        return now?.status === 'completed' ? now : undefined;
      if (now.status === 'completed') return now;
      if (now.status === 'failed' || now.status === 'cancelled') return undefined;
      if (performance.now() + pauseMs > endMs) throw stillRunning(request);
      await sleep(pauseMs);
    }
    throw new DomainError('request_cancelled', 'The caller left.');
  }

  #tracked(keeping: Promise<void>): Promise<void> {
    this.#keeping.add(keeping);
    return keeping.finally(() => this.#keeping.delete(keeping));
  }

  /** Never rejects. */
  async #keep(request: KeptRequest, answer: InnerAnswer, bytes: PassThrough): Promise<void> {
    try {
      await this.answers.keep(request, bytes);
      const endedAtMs = Date.now();
      const expiresAtMs = endedAtMs + this.settings.requests.keepMs;
      const end = { status: 'completed', answer: headOf(answer), endedAtMs, expiresAtMs } as const;
      await this.store.end(request, this.leases.owner, end);
    } catch (error) {
      // An answer that broke in the middle is nobody's answer.
      this.#logger.warn({ reason: (error as Error).message }, 'an answer could not be kept for a retry');
      await this.store.drop(request, this.leases.owner).catch(() => undefined);
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

const stillRunning = ({ requestId }: KeptRequest): DomainError =>
  new DomainError('duplicate_request_id', `The first attempt, ${requestId}, is still running.`, { retryAfterMs: 1000 });
