import { randomBytes } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type FastifyAdapter } from '@nestjs/platform-fastify';
import { type FastifyRequest } from 'fastify';
import { type KeyTerms } from '../../core/access/key-terms.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { followCaller } from '../inference/disconnect-watch.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { type Principal } from '../../platform/auth/principal.js';
import {
  INTERNAL_KEY_ID,
  ShortLivedTokens,
} from '../../platform/auth/short-lived-tokens.js';

const MARK_HEADER = 'x-switchyard-inner';
const CALLER_HEADER = 'x-switchyard-inner-caller';
/** The terms of its caller's key, as JSON. */
const TERMS_HEADER = 'x-switchyard-inner-terms';
const PASSED_ON = [
  'content-type',
  'x-priority',
  'x-deadline-ms',
  'x-slo-ttft-ms',
  'traceparent',
] as const;

/** What an inner request has of the one that it stands for. */
export function innerHeaders(
  headers: IncomingHttpHeaders,
  { terms }: Principal,
): Record<string, string> {
  const given = PASSED_ON.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return {
    ...Object.fromEntries(given),
    ...(terms && { [TERMS_HEADER]: JSON.stringify(terms) }),
  };
}

interface InnerRequest {
  readonly requestId: string;
  readonly tenant: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Readable;
  /** Absent: unknown. */
  readonly bytes?: number;
  /** Aborted when the caller disconnects; absent: no caller waits. */
  readonly caller?: AbortSignal;
}

export interface InnerAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Readable;
  /** What a runner rejects it with; the body has it too. */
  readonly error?: DomainError;
}

/**
 * Runs a request through this gateway's own routes, without a socket, so that it is
 * answered like any other even if its caller has left. It runs for the tenant with an
 * internal token; the caller's key is never stored.
 */
@Injectable()
export class InnerRequests {
  readonly #mark = randomBytes(16).toString('hex');
  /** Callers of requests that have not reached their route yet. */
  readonly #callers = new Map<string, AbortSignal>();
  #runs = 0;

  constructor(
    private readonly adapterHost: HttpAdapterHost<FastifyAdapter>,
    private readonly tokens: ShortLivedTokens,
    private readonly keys: KeyRing,
  ) {}

  /**
   * True for an inner request: it was authorised and counted when it came from outside.
   */
  isInner({ headers }: FastifyRequest): boolean {
    return headers[MARK_HEADER] === this.#mark;
  }

  /**
   * Called when an inner request reaches its route: from then on its caller's
   * disconnect cancels it.
   */
  attachCaller(request: FastifyRequest): undefined {
    const run = request.headers[CALLER_HEADER];
    const caller = typeof run === 'string' ? this.#callers.get(run) : undefined;
    if (caller) followCaller(request, caller);
  }

  /** Resolves with the head of the answer; its body follows. */
  async run({
    requestId,
    tenant,
    path,
    headers,
    body,
    bytes,
    caller,
  }: InnerRequest): Promise<InnerAnswer> {
    const run = String(++this.#runs);
    if (caller) this.#callers.set(run, caller);
    const length = bytes ?? (Buffer.isBuffer(body) ? body.length : undefined);
    const inject = this.adapterHost.httpAdapter.getInstance().inject({
      method: 'POST',
      url: path,
      headers: {
        ...headers,
        ...(length === undefined
          ? { 'transfer-encoding': 'chunked' }
          : { 'content-length': String(length) }),
        ...this.#credentials(tenant, headers[TERMS_HEADER]),
        [MARK_HEADER]: this.#mark,
        [CALLER_HEADER]: run,
        'x-request-id': requestId,
      },
      payload: Buffer.isBuffer(body) ? body : tame(body),
      payloadAsStream: true,
    });
    const answer = await inject.finally(() => this.#callers.delete(run));
    return {
      status: answer.statusCode,
      headers: answer.headers as InnerAnswer['headers'],
      body: answer.stream(),
    };
  }

  #credentials(tenant: string, stored: string | undefined): Record<string, string> {
    if (!this.keys.enabled) return {};
    // Written by us, of a key that was valid then.
    const terms = stored === undefined ? {} : { terms: JSON.parse(stored) as KeyTerms };
    const principal = {
      tenant,
      keyId: INTERNAL_KEY_ID,
      scopes: new Set(['inference'] as const),
      ...terms,
    };
    const { token } = this.tokens.mint({
      principal,
      scopes: ['inference'],
      ttlS: TOKEN_S,
    });
    return { authorization: `Bearer ${token}` };
  }
}

/** The token is used at once. */
const TOKEN_S = 60;

/**
 * Turns an aborted body into one that ends early: its reader rejects it as malformed. An
 * error would have no listener.
 */
function tame(body: Readable): PassThrough {
  const tamed = new PassThrough();
  const end = (): void => {
    if (!tamed.writableEnded) tamed.end();
  };
  body.once('error', end).once('close', end).pipe(tamed);
  return tamed;
}
