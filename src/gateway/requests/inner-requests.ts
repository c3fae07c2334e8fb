import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type FastifyAdapter } from '@nestjs/platform-fastify';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type FastifyRequest, type InjectOptions, type LightMyRequestResponse } from 'fastify';
import { type KeyTerms } from '../../core/access/key-terms.js';
import { admitAs } from '../../platform/auth/access-hooks.js';
import { type Principal } from '../../platform/auth/principal.js';
import { INTERNAL_KEY_ID } from '../../platform/auth/short-lived-tokens.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { followCaller } from '../cancellation/disconnect-watch.js';
import { type WorkAnswer } from '../stored-work/stored-answers.js';

/** Names an inner request, by a random id that only this process knows. */
const RUN_HEADER = 'x-switchyard-inner';
/** The terms of its caller's key, as JSON. */
const TERMS_HEADER = 'x-switchyard-inner-terms';
/** Fastify's error code for a request that comes after it was closed. */
const SERVER_CLOSED = 'FST_ERR_REOPENED_CLOSE_SERVER';
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
    ...(terms && { [TERMS_HEADER]: writeJson(terms) }),
  };
}

interface InnerRequest {
  readonly requestId: string;
  readonly tenant: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Readable;
  /** Absent: unknown. */
  readonly bytes?: number | undefined;
  /** Aborted when the caller has left, or another gateway has the request. */
  readonly caller: AbortSignal;
}

/**
 * Runs a request that has no connection of its own through this gateway's own routes, so
 * that it is answered like any other. It acts for its tenant, and inference is all that it
 * may do; the caller's key is never stored.
 */
@Injectable()
export class InnerRequests {
  /** Requests by name, until they are answered. */
  readonly #running = new Map<string, InnerRequest>();

  constructor(private readonly adapterHost: HttpAdapterHost<FastifyAdapter>) {}

  /**
   * True for an inner request, which acts for its tenant from now on: it was authorised
   * and counted when it came from outside.
   */
  admit(request: FastifyRequest): boolean {
    const inner = this.#running.get(String(request.headers[RUN_HEADER]));
    if (!inner) return false;
    const { tenant, headers, caller } = inner;
    const terms = headers[TERMS_HEADER];
    admitAs(request, {
      tenant,
      keyId: INTERNAL_KEY_ID,
      scopes: new Set(['inference']),
      // Written by us, of a key that was valid then.
      ...(terms !== undefined && { terms: parseBoundedJson(terms) as KeyTerms }),
    });
    followCaller(request, caller);
    return true;
  }

  /**
   * Resolves with the head of the answer; its body follows. A body that breaks stops the
   * request, whatever its route makes of the first part.
   * @throws what the body was broken with; DomainError `shutting_down`
   */
  async run(inner: InnerRequest): Promise<WorkAnswer> {
    const { requestId, path, headers, body, bytes } = inner;
    const run = randomUUID();
    const length = Buffer.isBuffer(body) ? body.length : bytes;
    const broken = new AbortController();
    const caller = AbortSignal.any([inner.caller, broken.signal]);
    this.#running.set(run, { ...inner, caller });
    const answer = await this.#injected({
      method: 'POST',
      url: path,
      headers: {
        ...headers,
        ...(length === undefined
          ? { 'transfer-encoding': 'chunked' }
          : { 'content-length': String(length) }),
        [RUN_HEADER]: run,
        'x-request-id': requestId,
      },
      payload: Buffer.isBuffer(body) ? body : tame(body, broken),
      payloadAsStream: true,
    }).finally(() => this.#running.delete(run));
    if (broken.signal.aborted) {
      answer.stream().destroy();
      throw broken.signal.reason as Error;
    }
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.stream(),
    };
  }

  async #injected(options: InjectOptions): Promise<LightMyRequestResponse> {
    try {
      return await this.adapterHost.httpAdapter.getInstance().inject(options);
    } catch (error) {
      // The server closed before the request began: nothing has been done for it.
      if ((error as NodeJS.ErrnoException).code === SERVER_CLOSED) throw shuttingDown();
      throw error;
    }
  }
}

/**
 * Turns a broken body into one that ends early, after `broken` was aborted with its error: an
 * error of the stream itself would have no listener.
 */
function tame(body: Readable, broken: AbortController): PassThrough {
  const tamed = new PassThrough();
  const end = (): void => {
    if (!tamed.writableEnded) tamed.end();
  };
  body.once('error', error => broken.abort(error));
  body.once('error', end).once('close', end).pipe(tamed);
  return tamed;
}
