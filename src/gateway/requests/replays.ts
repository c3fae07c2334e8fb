import { PassThrough, Readable, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { Settings } from '../../platform/config/settings.js';
import { followCaller } from '../cancellation/disconnect-watch.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { type AnswerHeaders, StoredAnswers } from '../stored-work/stored-answers.js';
import { type WorkAttempt } from '../stored-work/stored-leases.js';
import { isCallersOnly, StoredWork } from '../stored-work/stored-work.js';

const POLLS = { firstMs: 100, longestMs: 1000 };
/** A caller waits for so long until a full database has room; then it is 507. */
const ROOM_WITHIN_MS = 20_000;

/** Of a request whose answer is stored on its way to the caller. */
interface FirstAttempt extends WorkAttempt {
  readonly asked: Asked;
}

/** Fingerprint of the request; of a form it is known when all of it was read. */
type Asked = Pick<StoredRequest, 'fingerprint'>;

/**
 * Requests whose callers wait and may retry: the first attempt runs and its answer is
 * stored, the others receive it.
 */
@Injectable()
export class Replays implements OnApplicationShutdown {
  readonly #logger = new Logger(Replays.name);
  readonly #storing = new Set<Promise<void>>();
  /** First attempts that are not answered yet. */
  readonly #attempts = new WeakMap<FastifyRequest, FirstAttempt>();

  constructor(
    private readonly works: StoredWork,
    private readonly answers: StoredAnswers,
    private readonly scheduler: SchedulerService,
    private readonly settings: Settings,
  ) {}

  /** The last answers are written before the database closes. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.#storing);
  }

  /**
   * The request goes on to its route, and its answer is stored on its way out (`keep`).
   * Another gateway that has it stops it like a disconnect.
   */
  begin({ raw, request }: FastifyReply, attempt: WorkAttempt, asked: Asked): void {
    followCaller(request, attempt.gone);
    this.#attempts.set(request, { ...attempt, asked });
    raw.once('close', () => {
      // Where the rest of a body never comes, there may be no answer.
      if (!request.raw.readableEnded) void this.#fail(this.#taken(request));
    });
  }

  /**
   * Comes before an answer is sent. That of a first attempt is stored if it is a success;
   * a retry after a failure runs again. Undefined: it is no such answer.
   * @returns what is sent in place of `payload`
   * @throws DomainError what is answered instead
   */
  keep(reply: FastifyReply, payload: unknown): Promise<unknown> | undefined {
    const attempt = this.#taken(reply.request);
    return attempt && this.#kept(attempt, reply, payload);
  }

  async #kept(attempt: FirstAttempt, reply: FastifyReply, payload: unknown): Promise<unknown> {
    if (reply.statusCode !== 200) {
      const isGone = attempt.gone.aborted;
      await this.#fail(attempt);
      if (isGone) throw stillRunning(attempt.work);
      return payload;
    }
    const isStream = payload instanceof Readable;
    const bytes = isStream
      ? new PassThrough()
      : Readable.from([Buffer.from(payload as string | Buffer)]);
    const storing = this.#store(attempt, reply.getHeaders(), bytes);
    const ended = storing
      .catch(() => undefined)
      .finally(() => {
        this.#storing.delete(ended);
        attempt.release();
      });
    this.#storing.add(ended);
    if (isStream) return split(payload, bytes as PassThrough, storing);
    await storing;
    return payload;
  }

  #taken(request: FastifyRequest): FirstAttempt | undefined {
    const attempt = this.#attempts.get(request);
    this.#attempts.delete(request);
    return attempt;
  }

  async #fail(attempt: FirstAttempt | undefined): Promise<void> {
    if (!attempt) return;
    // In a shutdown one statement gives all rows back.
    if (this.scheduler.accepting) await this.works.drop(attempt.work);
    attempt.release();
  }

  /**
   * Resolves with an earlier attempt: an async one when its body is stored, another one
   * when it is completed. Undefined if it must run again: it failed, its upload was
   * aborted, or its gateway died.
   * @throws DomainError `duplicate_request_id` when it still arrives or runs
   *   after `requests.join_ms`
   */
  async join(request: StoredRequest, left: () => boolean): Promise<StoredRequest | undefined> {
    const endMs = performance.now() + this.settings.requests.joinMs;
    let now: StoredRequest | undefined = request;
    for (let polls = 1; !left(); polls++) {
      const pauseMs = backoffMs(polls, POLLS);
      if (!now) return undefined;
      if (!isCallersOnly(now))
        return now.mode === 'async' || now.status === 'completed' ? now : undefined;
      if (performance.now() + pauseMs > endMs) throw stillRunning(request);
      await sleep(pauseMs);
      now = await this.works.now(request);
    }
    throw new DomainError('request_cancelled', 'The caller disconnected.');
  }

  /**
   * Resolves when a retry finds the answer. With the database away it waits: the answer
   * may be stored already, so that nothing is removed.
   * @throws DomainError `duplicate_request_id` when another attempt has the request
   */
  async #store(
    { work, asked: { fingerprint } }: FirstAttempt,
    headers: AnswerHeaders,
    bytes: Readable,
  ): Promise<void> {
    const head = { status: 200, headers };
    const kept = await this.answers.store(work, head, bytes).catch(async (error: unknown) => {
      // An incomplete answer must not be replayed.
      this.#logger.warn(
        { reason: (error as Error).message },
        'an answer could not be stored for a retry',
      );
      await this.works.drop(work);
      throw error;
    });
    // Its caller has the failure by then, and a retry runs again.
    if (!kept.isWhole) return this.works.drop(work);
    const end = { status: 'completed', answer: kept.answer, fingerprint } as const;
    if ((await this.works.end(work, end, ROOM_WITHIN_MS)) !== 'ended') throw stillRunning(work);
  }
}

/**
 * Both receive every byte, at the pace of the slower one. The caller receives the
 * last bytes when the answer is stored: a caller that has all of it can rely on a
 * retry to find it. If it cannot be stored, its caller has all of it nevertheless: what was
 * begun is not broken off for a retry that would run again. Unless another attempt has the
 * request: then that one's answer counts.
 */
function split(body: Readable, toStore: PassThrough, stored: Promise<void>): Transform {
  let last: Buffer | undefined;
  const toCaller = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      const ready = last;
      last = chunk;
      done(null, ready);
    },
    flush: done =>
      void stored.then(
        () => done(null, last),
        (error: Error) => (isTaken(error) ? done(error) : done(null, last)),
      ),
  });
  body.on('error', error => {
    toCaller.destroy(error);
    toStore.destroy(error);
  });
  // A caller that disconnects destroys its own half.
  toCaller.on('error', () => undefined);
  body.pipe(toStore);
  body.pipe(toCaller);
  return toCaller;
}

const isTaken = (error: Error): boolean =>
  error instanceof DomainError && error.code === 'duplicate_request_id';

const stillRunning = ({ requestId }: StoredRequest): DomainError =>
  new DomainError('duplicate_request_id', `The first attempt, ${requestId}, is still running.`, {
    retryAfterMs: 1000,
  });
