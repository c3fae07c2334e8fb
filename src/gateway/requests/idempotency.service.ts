import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { isWork } from '../../contracts/endpoints.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { principalOf, tenantOf } from '../../platform/auth/access-hooks.js';
import { INTERNAL_KEY_ID } from '../../platform/auth/short-lived-tokens.js';
import { Settings } from '../../platform/config/settings.js';
import { boundedBytes, fileTooLarge } from '../../platform/storage/size-limit.js';
import { LONGEST_FORM } from '../http/multipart-form.js';
import { REQUEST_ID_HEADER } from '../http/request-headers.js';
import { ARRIVED_HEADER } from '../inference/request-deadlines.js';
import { detachTicket } from '../limits/limit-guard.js';
import { headOf, StoredAnswers } from '../stored-work/stored-answers.js';
import { type WorkAttempt } from '../stored-work/stored-leases.js';
import { StoredWork } from '../stored-work/stored-work.js';
import { WorkRuns } from '../stored-work/work-runs.js';
import { AsyncRequests } from './async-requests.js';
import { innerHeaders } from './inner-requests.js';
import { Replays } from './replays.js';
import { fingerprintOf, FormDigest, isJson, isSame } from './request-fingerprint.js';

/** How the answer of a request is stored. */
interface IdempotencyOptions {
  readonly mode: 'async' | 'waiting';
  readonly name: string;
  /** As the caller would spell it, for errors. */
  readonly param: 'Idempotency-Key' | 'X-Request-Id';
}

/**
 * Undefined: the answer is not stored. @param byRequestId a given X-Request-Id means the
 * same as an Idempotency-Key
 */
function idempotencyOptions(
  request: FastifyRequest,
  byRequestId: boolean,
): IdempotencyOptions | undefined {
  const { prefer, 'idempotency-key': given } = request.headers;
  const key = given === undefined ? undefined : idempotencyKey(given);
  const mode = prefer !== undefined && prefersAsync(prefer) ? 'async' : 'waiting';
  if (key !== undefined) return { mode, name: `key:${key}`, param: 'Idempotency-Key' };
  const named = byRequestId && request.headers[REQUEST_ID_HEADER] !== undefined;
  if (mode === 'waiting' && !named) return undefined;
  return { mode, name: `id:${request.id}`, param: 'X-Request-Id' };
}

/**
 * RFC 7240: comma-separated preferences with optional parameters; unknown
 * ones are ignored.
 */
function prefersAsync(header: string | readonly string[]): boolean {
  return [header]
    .flat()
    .some(line => line.split(',').some(entry => /^\s*respond-async\s*(;|$)/i.test(entry)));
}

function idempotencyKey(header: string | string[]): string {
  if (typeof header === 'string' && /^[\x20-\x7e]{1,255}$/.test(header)) return header;
  throw invalidField(
    'Idempotency-Key',
    '`Idempotency-Key` must be 1 to 255 printable ASCII characters.',
  );
}

interface IdempotentCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly options: IdempotencyOptions;
  /** The body if it is JSON, read before anything is decided. A form is read later. */
  readonly json: Buffer | undefined;
  /** Digest of the request; of a form without its bytes, which come later. */
  readonly fingerprint: string;
}

/**
 * Requests with an idempotency key or `respond-async`: joins the earlier request of that
 * key, or starts this one.
 */
@Injectable()
export class IdempotencyService {
  /**
   * Request ids count as keys only with a shared database: elsewhere no other gateway
   * could find the answer.
   */
  readonly #byRequestId: boolean;

  constructor(
    private readonly works: StoredWork,
    private readonly runs: WorkRuns,
    private readonly answers: StoredAnswers,
    private readonly asyncs: AsyncRequests,
    private readonly replays: Replays,
    private readonly settings: Settings,
  ) {
    const { requests, database } = settings;
    this.#byRequestId =
      requests.idempotency === 'request_id' ||
      (requests.idempotency === 'auto' && database.url !== '');
  }

  /**
   * Joins or starts a request that wants its answer stored. Comes after the guard and the
   * limits, before any body is read. Undefined: it is none.
   * @returns the body with which it goes on to its route; undefined: it was answered
   * @throws DomainError
   */
  serve(request: FastifyRequest, reply: FastifyReply): Promise<Readable | undefined> | undefined {
    if (request.method !== 'POST' || !isWork(request.url.split('?', 1)[0] ?? '')) return undefined;
    // Lines of batches are stored by their job, inner requests by who runs them.
    if (principalOf(request).keyId === INTERNAL_KEY_ID) return undefined;
    const wanted = idempotencyOptions(request, this.#byRequestId);
    if (!wanted || (wanted.mode === 'waiting' && this.settings.requests.idempotency === 'off'))
      return undefined;
    return this.#serve(request, reply, wanted);
  }

  async #serve(
    request: FastifyRequest,
    reply: FastifyReply,
    options: IdempotencyOptions,
  ): Promise<Readable | undefined> {
    const mostBytes = this.#mostBytes(request);
    if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw fileTooLarge(mostBytes);
    const json = isJson(request) ? await buffer(this.#bodyOf(request)) : undefined;
    const fingerprint = fingerprintOf(request, json);
    const call = { request, reply, options, json, fingerprint };
    for (;;) {
      const { attempt, work } = await this.#open(call);
      if (attempt && options.mode === 'waiting') return this.#goOn(call, attempt);
      if (attempt) return this.#begin(call, attempt);
      if (await this.#joinEarlier(call, work)) return undefined;
    }
  }

  /**
   * Waits for the earlier request until its body is known to be stored, or equal. False:
   * it is gone, so the store is asked again.
   */
  async #joinEarlier(call: IdempotentCall, earlier: StoredRequest): Promise<boolean> {
    const { reply, options } = call;
    this.#demandSame(call, earlier, call.fingerprint);
    const isAsync = earlier.mode === 'async';
    if (isAsync !== (options.mode === 'async')) throw otherMode(options, earlier);
    const left = (): boolean => reply.raw.destroyed;
    const stored = await this.replays.join(earlier, left);
    if (!stored) return false;
    const answer = stored.status === 'completed' ? await this.answers.openAnswer(stored) : null;
    if (answer === undefined) {
      // Its bytes are gone: what cannot be answered again runs again.
      await this.works.drop(stored);
      return false;
    }
    await this.#demandSameBytes(call, stored);
    if (isAsync) await this.asyncs.accept(stored, reply);
    else if (answer)
      void reply
        .code(answer.status)
        .headers({ ...answer.headers, 'idempotent-replayed': 'true' })
        .send(answer.body);
    return true;
  }

  #open({ request, options, fingerprint }: IdempotentCall) {
    return this.works.open({
      tenant: tenantOf(request),
      name: options.name,
      requestId: request.id,
      mode: options.mode,
      path: request.url.split('?', 1)[0] ?? request.url,
      fingerprint,
      headers: {
        ...innerHeaders(request.headers, principalOf(request)),
        [ARRIVED_HEADER]: String(Date.now()),
      },
      status: options.mode === 'async' ? 'receiving' : 'running',
    });
  }

  /** A form passes the digest while its route reads it. */
  async #goOn(call: IdempotentCall, attempt: WorkAttempt): Promise<Readable> {
    const { request, reply, json } = call;
    if (reply.raw.destroyed) {
      await this.#leave(attempt);
      throw callerLeft();
    }
    const form = digestOf(call);
    this.replays.begin(reply, attempt, json ? attempt.work : form);
    if (json) return Readable.from([json]);
    // Without the pause, a listener would let the bytes flow.
    return request.raw.pause().on('data', (chunk: Buffer) => form.take(chunk));
  }

  /**
   * The body is stored before the caller gets its 202: then any gateway can
   * run the request.
   */
  async #begin(call: IdempotentCall, opened: WorkAttempt): Promise<undefined> {
    const { request, reply, json } = call;
    const detach = detachTicket(reply);
    const form = digestOf(call);
    try {
      const body = json ? Readable.from([json]) : form.passing(this.#bodyOf(request));
      const attempt = await this.works.receive(opened, body, json ? opened.work : form);
      const early = await this.runs.begin(attempt, detach);
      if (!early) return await this.asyncs.accept(attempt.work, reply);
      // Not what a route answered: it has no headers yet.
      if (early.error) throw early.error;
      const { status, headers } = headOf(early);
      void reply.code(status).headers(headers).send(early.body);
    } catch (error) {
      detach();
      await this.#leave(opened);
      throw error;
    }
  }

  async #leave({ work, release }: WorkAttempt): Promise<void> {
    await this.works.drop(work);
    release();
  }

  /** Reads a form to its end if only its bytes show whether it is the same request. */
  async #demandSameBytes(call: IdempotentCall, stored: StoredRequest): Promise<void> {
    const { request, fingerprint } = call;
    if (isSame(stored.fingerprint, fingerprint) !== undefined) return void request.raw.resume();
    const form = digestOf(call);
    for await (const _ of form.passing(this.#bodyOf(request))) continue;
    this.#demandSame(call, stored, form.fingerprint);
  }

  #demandSame({ options }: IdempotentCall, stored: StoredRequest, asked: string): void {
    if (isSame(stored.fingerprint, asked) === false) throw reused(options, 'for another request.');
  }

  #mostBytes(request: FastifyRequest): number {
    const { uploadLimitBytes, jsonLimitBytes } = this.settings.server;
    return isJson(request) ? jsonLimitBytes : uploadLimitBytes + LONGEST_FORM;
  }

  /** Bounds a body that declares no length while it is read. */
  async *#bodyOf(request: FastifyRequest): AsyncGenerator<Buffer> {
    // The connection is still needed for the answer.
    const chunks = request.raw.iterator({ destroyOnReturn: false });
    try {
      yield* boundedBytes(chunks as AsyncIterable<Buffer>, this.#mostBytes(request));
    } catch (error) {
      throw request.raw.destroyed ? callerLeft() : error;
    }
  }
}

const digestOf = ({ fingerprint, request }: IdempotentCall): FormDigest =>
  new FormDigest(fingerprint, request.headers);

const callerLeft = (): DomainError =>
  new DomainError('request_cancelled', 'The caller disconnected.');

function otherMode(options: IdempotencyOptions, { mode, requestId }: StoredRequest): DomainError {
  const rule =
    mode === 'async'
      ? `with \`Prefer: respond-async\`. Send that again, or ask GET /v1/requests/${requestId}.`
      : 'without `Prefer: respond-async`. Leave it out, or use another key.';
  return reused(options, rule);
}

const reused = ({ param }: IdempotencyOptions, how: string): DomainError =>
  new DomainError('idempotency_key_reused', `\`${param}\` was used before ${how}`, { param });
