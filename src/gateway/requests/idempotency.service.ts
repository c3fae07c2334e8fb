import { Readable, Transform } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type StoredRequest, type StoredRequestStore } from '../../core/request/stored-request.port.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { tenantOf } from '../../platform/auth/access-hooks.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { KEPT_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { storageUnavailable } from '../../platform/http/passing-errors.js';
import { fileTooLarge } from '../../platform/storage/spool.js';
import { LONGEST_FORM } from '../http/multipart-form.js';
import { keepTicket } from '../limits/limit-hooks.js';
import { AsyncRequests } from './async-requests.js';
import { type IdempotencyOptions } from './idempotency-options.js';
import { Replays } from './replays.js';
import { fingerprintOf, FormDigest, isJson, isSame } from './request-fingerprint.js';
import { StoredAnswers } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';

interface KeptCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly wish: IdempotencyOptions;
  /** JSON is read before anything is decided; a form is not. */
  readonly json: Buffer | undefined;
}

/** Headers that a second run needs. */
const PASSED_ON = ['content-type', 'x-priority'] as const;

/** Takes requests that are to be kept: finds the one that came before, or begins this one. */
@Injectable()
export class IdempotencyService {
  constructor(
    @Inject(KEPT_REQUEST_STORE) private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly asyncs: AsyncRequests,
    private readonly replays: Replays,
    private readonly leases: StoredLeases,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Answers the request in full. @throws DomainError */
  async serve(request: FastifyRequest, reply: FastifyReply, wish: IdempotencyOptions): Promise<void> {
    this.#demandSize(request);
    const json = isJson(request) ? await this.#jsonOf(request) : undefined;
    const call = { request, reply, wish, json };
    const letGo = this.leases.hold({ tenant: tenantOf(request), name: wish.name });
    try {
      while (!(await this.#served(call)));
    } finally {
      letGo();
    }
  }

  /** False: what came before is gone, and everything is asked anew. */
  async #served(call: KeptCall): Promise<boolean> {
    const { created, request: kept, replaced } = await this.#open(call);
    await this.answers.forget(replaced);
    if (created) await (call.wish.mode === 'async' ? this.#begin(call, kept) : this.#first(call, kept));
    return created || this.#again(call, kept);
  }

  /** It came before: it is waited for as long as it is not known to be safe, or not known to be the same. */
  async #again(call: KeptCall, earlier: StoredRequest): Promise<boolean> {
    const { request, reply, wish } = call;
    this.#demandSame(call, earlier, fingerprintOf(request, call.json));
    const isAsync = earlier.mode === 'async';
    if (isAsync !== (wish.mode === 'async')) throw otherMode(wish, earlier);
    const left = (): boolean => reply.raw.destroyed;
    const kept = await (isAsync ? this.replays.received(earlier, left) : this.replays.join(earlier, left));
    if (!kept) return false;
    await this.#demandSameBytes(call, kept);
    if (isAsync) accepted(reply, kept);
    else this.replays.replay(kept, reply);
    return true;
  }

  #open({ request, wish, json }: KeptCall) {
    const lease = this.leases.lease();
    const { nowMs } = lease;
    const headers = PASSED_ON.flatMap((name): [string, string][] => {
      const value = request.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    return this.store.open(
      {
        tenant: tenantOf(request),
        name: wish.name,
        requestId: request.id,
        mode: wish.mode,
        path: request.url.split('?', 1)[0] ?? request.url,
        fingerprint: fingerprintOf(request, json),
        headers: Object.fromEntries(headers),
        blob: this.answers.newBlob(),
        status: wish.mode === 'async' ? 'receiving' : 'running',
        createdAtMs: nowMs,
        expiresAtMs: nowMs + this.settings.requests.keepMs,
      },
      lease,
    );
  }

  async #first({ request, reply, json }: KeptCall, kept: StoredRequest): Promise<void> {
    const bytes = Number(request.headers['content-length']);
    const length = json || Number.isNaN(bytes) ? {} : { bytes };
    const form = json ? undefined : this.#digested(request, kept);
    const sent = { body: json ?? form!, headers: kept.headers, ...length };
    await this.replays.first(kept, sent, reply, () => form?.fingerprint ?? kept.fingerprint);
  }

  /** The body is stored before anybody is told: then any gateway can run it. */
  async #begin({ request, reply, json }: KeptCall, kept: StoredRequest): Promise<void> {
    const leave = keepTicket(request);
    const form = json ? undefined : this.#digested(request, kept);
    try {
      await this.answers.keepBody(kept, form ?? Readable.from([json]));
      if (!(await this.store.started(kept, this.leases.owner, form?.fingerprint ?? kept.fingerprint)))
        throw lostLease();
      const early = await this.asyncs.begin(kept, leave);
      if (!early) return accepted(reply, kept);
      void reply
        .code(early.status)
        .headers({ ...refusalHeaders(early.headers) })
        .send(early.body);
    } catch (error) {
      leave();
      await this.replays.drop(kept);
      await this.answers.forget([kept]).catch(() => undefined);
      throw error;
    }
  }

  /** Reads a form to its end where only its bytes can tell. */
  async #demandSameBytes(call: KeptCall, kept: StoredRequest): Promise<void> {
    const { request, json } = call;
    const head = fingerprintOf(request, json);
    if (isSame(kept.fingerprint, head) !== undefined) return void request.raw.resume();
    const form = this.#digested(request, { fingerprint: head });
    for await (const _ of form) continue;
    this.#demandSame(call, kept, form.fingerprint);
  }

  #demandSame({ wish }: KeptCall, kept: StoredRequest, asked: string): void {
    if (isSame(kept.fingerprint, asked) !== false) return;
    throw new DomainError('idempotency_key_reused', `\`${wish.param}\` was used before for another request.`, {
      param: wish.param,
    });
  }

  /** The body of a form, bounded, with its fingerprint at its end. */
  #digested(request: FastifyRequest, { fingerprint }: Pick<StoredRequest, 'fingerprint'>): FormDigest {
    const form = new FormDigest(fingerprint, request.headers);
    const bounded = this.#bounded(request);
    form.on('error', () => undefined);
    bounded.once('error', error => form.destroy(error));
    return bounded.pipe(form);
  }

  #mostBytes(request: FastifyRequest): number {
    const { uploadLimitBytes, jsonLimitBytes } = this.settings.server;
    return isJson(request) ? jsonLimitBytes : uploadLimitBytes + LONGEST_FORM;
  }

  #demandSize(request: FastifyRequest): void {
    const mostBytes = this.#mostBytes(request);
    if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw fileTooLarge(mostBytes);
  }

  async #jsonOf(request: FastifyRequest): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.#bounded(request)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  /** A body without a length is measured on its way. */
  #bounded(request: FastifyRequest): Transform {
    const { raw } = request;
    const mostBytes = this.#mostBytes(request);
    let size = 0;
    const bounded = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        size += chunk.length;
        if (size > mostBytes) done(fileTooLarge(mostBytes));
        else done(null, chunk);
      },
    });
    // Whoever reads it may begin later than the caller leaves: then the error waits for the reader, and is nobody else's.
    bounded.on('error', () => undefined);
    const closed = (): void => {
      if (!raw.complete) bounded.destroy(new DomainError('request_cancelled', 'The caller left.'));
    };
    if (raw.destroyed) closed();
    else raw.once('close', closed);
    return raw.pipe(bounded);
  }
}

const lostLease = (): DomainError => storageUnavailable('The request could not be stored in time.');

const otherMode = ({ param }: IdempotencyOptions, { mode, requestId }: StoredRequest): DomainError =>
  new DomainError(
    'idempotency_key_reused',
    mode === 'async'
      ? `\`${param}\` was used before with \`Prefer: respond-async\`. Send that again, or ask GET /v1/requests/${requestId}.`
      : `\`${param}\` was used before without \`Prefer: respond-async\`. Leave it out, or use another key.`,
    { param },
  );

function accepted(reply: FastifyReply, { requestId, status, createdAtMs }: StoredRequest): void {
  const location = `/v1/requests/${requestId}`;
  const at = Math.floor(createdAtMs / 1000);
  const known = status === 'completed' ? status : 'queued';
  void reply
    .code(202)
    .headers({ location, 'preference-applied': 'respond-async' })
    .send({ request_id: requestId, status: known, created_at: at, location });
}

const refusalHeaders = (headers: Readonly<Record<string, string | readonly string[]>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      /^(content-type|retry-after(-ms)?|x-should-retry)$/.test(name) ? [[name, String(value)]] : [],
    ),
  );
