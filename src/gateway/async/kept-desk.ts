import { Readable, Transform } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type KeptRequest, type KeptRequestStore } from '../../core/kept/kept-request.port.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { tenantOf } from '../../platform/auth/access-hooks.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { KEPT_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { fileTooLarge } from '../../platform/storage/spool-writer.js';
import { LONGEST_FORM } from '../api/form-fields.js';
import { keepTicket } from '../limits/limit-hooks.js';
import { AsyncRequests } from './async-requests.js';
import { KeptAnswers } from './kept-answers.js';
import { KeptLeases } from './kept-leases.js';
import { fingerprintOf, isJson, type KeptWish } from './kept-wish.js';
import { Replays } from './replays.js';

interface KeptCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly wish: KeptWish;
  /** JSON is read before anything is decided; a form is not. */
  readonly json: Buffer | undefined;
}

/** Headers that a second run needs. */
const PASSED_ON = ['content-type', 'x-priority'] as const;

/** Takes requests that are to be kept: finds the one that came before, or begins this one. */
@Injectable()
export class KeptDesk {
  constructor(
    @Inject(KEPT_REQUEST_STORE) private readonly store: KeptRequestStore,
    private readonly answers: KeptAnswers,
    private readonly asyncs: AsyncRequests,
    private readonly replays: Replays,
    private readonly leases: KeptLeases,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Answers the request in full. @throws DomainError */
  async serve(request: FastifyRequest, reply: FastifyReply, wish: KeptWish): Promise<void> {
    this.#demandSize(request);
    const json = isJson(request) ? await this.#jsonOf(request) : undefined;
    const call = { request, reply, wish, json };
    for (;;) {
      const { created, request: kept, replaced } = await this.#open(call);
      await this.answers.forget(replaced);
      if (created) return wish.mode === 'async' ? this.#begin(call, kept) : this.#first(call, kept);
      this.#demandSame(call, kept);
      if (kept.mode === 'async' || wish.mode === 'async') return this.#tellAsync(call, kept);
      const ended = kept.status === 'completed' ? kept : await this.replays.join(kept, () => reply.raw.destroyed);
      if (!ended) continue;
      request.raw.resume();
      return this.replays.replay(ended, reply);
    }
  }

  #open({ request, wish, json }: KeptCall) {
    const nowMs = Date.now();
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
      this.leases.lease(nowMs),
    );
  }

  async #first({ request, reply, json }: KeptCall, kept: KeptRequest): Promise<void> {
    const bytes = Number(request.headers['content-length']);
    const length = json || Number.isNaN(bytes) ? {} : { bytes };
    await this.replays.first(kept, { body: json ?? request.raw, headers: kept.headers, ...length }, reply);
  }

  /** The body is stored before anybody is told: then any gateway can run it. */
  async #begin({ request, reply, json }: KeptCall, kept: KeptRequest): Promise<void> {
    const leave = keepTicket(request);
    const letGo = this.leases.hold();
    try {
      await this.answers.keepBody(kept, json ? Readable.from([json]) : this.#bounded(request));
      await this.store.started(kept, this.leases.owner);
      const early = await this.asyncs.begin(kept, leave);
      if (!early) return accepted(reply, kept);
      void reply
        .code(early.status)
        .headers({ ...refusalHeaders(early.headers) })
        .send(early.body);
    } catch (error) {
      leave();
      await this.store.drop(kept, this.leases.owner);
      await this.answers.forget([kept]);
      throw error;
    } finally {
      letGo();
    }
  }

  #tellAsync({ request, reply, wish }: KeptCall, kept: KeptRequest): void {
    if (kept.mode !== 'async' || wish.mode !== 'async')
      throw new DomainError(
        'idempotency_key_reused',
        `\`${wish.param}\` was used before, with another Prefer header.`,
        {
          param: wish.param,
        },
      );
    request.raw.resume();
    accepted(reply, kept);
  }

  #demandSame({ request, wish, json }: KeptCall, kept: KeptRequest): void {
    if (kept.fingerprint === fingerprintOf(request, json)) return;
    throw new DomainError('idempotency_key_reused', `\`${wish.param}\` was used before for another request.`, {
      param: wish.param,
    });
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
    raw.once('close', () => {
      if (!raw.complete) bounded.destroy(new DomainError('request_cancelled', 'The caller left.'));
    });
    return raw.pipe(bounded);
  }
}

function accepted(reply: FastifyReply, { requestId, status, createdAtMs }: KeptRequest): void {
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
