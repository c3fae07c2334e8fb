import { type IncomingMessage, type ServerResponse } from 'node:http';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { isWork } from '../../contracts/endpoints.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type RateLimitStatus } from '../../core/limits/limit-rules.js';
import { type Claim, SharedBound } from '../../core/limits/shared-bound.js';
import { type RequestKey, requestKey } from '../../core/request/request-key.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { type Principal } from '../../platform/auth/principal.js';
import { Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { endSlowRequest } from '../http/error-reply.js';
import { LimitEvents } from './limits.metrics.js';
import { RateLimiter, type Ticket } from './rate-limiter.js';

const SMALL_WORK = /^\/(asr|detect-language|tokenize|detokenize)\/?$/;

/** Routes whose requests limits count. */
const isLimited = (path: string): boolean => isWork(path) || SMALL_WORK.test(path);

/**
 * OpenAI's headers, and a third group for seconds of audio. A quantity without a limit
 * has no header.
 */
function limitHeaders({ requests, tokens, audioSeconds }: RateLimitStatus): Record<string, string> {
  return {
    ...group('requests', requests),
    ...group('tokens', tokens),
    ...group('audio-seconds', audioSeconds),
  };
}

const group = (what: string, allowance: RateLimitStatus['requests']): Record<string, string> =>
  allowance
    ? {
        [`x-ratelimit-limit-${what}`]: String(allowance.limit),
        [`x-ratelimit-remaining-${what}`]: String(allowance.remaining),
        [`x-ratelimit-reset-${what}`]: duration(allowance.resetMs),
      }
    : {};

/**
 * As OpenAI writes durations: `20ms`, `7.66s`, `6m0s`. Rounded up, so that the limit has
 * reset by then.
 */
function duration(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  if (ms < 60_000) return `${Math.ceil(ms / 10) / 100}s`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`;
}

const leaves = new WeakMap<FastifyRequest, () => void>();

/**
 * The work outlives its connection: the ticket is released by the function returned, not
 * by the end of the answer.
 */
export function detachTicket({ raw, request }: FastifyReply): () => void {
  const leave = leaves.get(request) ?? (() => undefined);
  raw.off('close', leave);
  return leave;
}

const RETRY_MS = 1000;

/** One in so many places is left to REALTIME requests and small bodies. */
const RESERVE = 8;

/** Bytes; a body that announces no more is small. */
export const SMALL_BODY = 65_536;

/** A body younger than this has no rate yet. */
const YOUNG_MS = 1000;

/**
 * Comes after the guard, before any body is read, so that a rejected upload is not
 * received. Reading is free. Also bounds the requests that are being received and are
 * not queued yet, since too many at once hold up the event loop: a bound with shares (D-51).
 */
@Injectable()
export class LimitGuard implements OnModuleInit {
  readonly #receiving: SharedBound;
  /** Request → function that releases its place among the bodies being received. */
  readonly #places = new Map<RequestKey, () => void>();

  constructor(
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
    private readonly bus: DispatchEventBus,
    private readonly events: LimitEvents,
  ) {
    const { maxReceiving } = settings.server;
    this.#receiving = new SharedBound(maxReceiving, Math.floor(maxReceiving / RESERVE));
  }

  onModuleInit(): void {
    this.bus.on('accepted', ({ key }) => this.#places.get(key)?.());
  }

  /**
   * Undefined: nothing is counted for this caller. @throws DomainError as
   * `RateLimiter.enter` does, and `queue_full`
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const { url } = request.routeOptions;
    if (request.method !== 'POST' || url === undefined || !isLimited(url)) return undefined;
    this.#receive(request, reply.raw);
    const showStatus = (status: RateLimitStatus): void => void reply.headers(limitHeaders(status));
    return this.limiter
      .enter(principalOf(request), request.id, showStatus)
      ?.then(ticket => leaveWithReply(request, reply, ticket));
  }

  /** As `RateLimiter.enter`, of a message of a socket. */
  enter(principal: Principal, id: string): Promise<Ticket> | undefined {
    return this.limiter.enter(principal, id);
  }

  /**
   * A place among what is received, also for a message of a socket.
   * @returns leaves it; undefined: refused
   */
  place(tenant: string, claim: Claim): (() => void) | undefined {
    return this.#receiving.enter(tenant, claim);
  }

  /** Full: this tenant is refused if it holds the most, else the slowest body of the one that does ends. */
  #receive(request: FastifyRequest, response: ServerResponse): void {
    const { raw, id } = request;
    const { tenant } = principalOf(request);
    const leave = this.place(tenant, {
      urgent: isUrgent(raw),
      pace: receivingPace(raw),
      end: () => endSlowRequest(raw, response),
    });
    if (!leave) {
      this.events.refused('intake');
      throw new DomainError(
        'queue_full',
        `The gateway receives ${this.settings.server.maxReceiving} requests already (server.max_receiving), most of them yours; try again in 1 s.`,
        { retryAfterMs: RETRY_MS },
      );
    }
    const key = requestKey({ tenant, id });
    this.#places.set(key, leave);
    response.once('close', () => {
      leave();
      if (this.#places.get(key) === leave) this.#places.delete(key);
    });
  }
}

const isUrgent = ({ headers }: IncomingMessage): boolean =>
  headers['x-priority'] === 'realtime' ||
  Number(headers['content-length'] ?? Infinity) <= SMALL_BODY;

/** @returns reads the pace of the body since this call, in bytes per millisecond */
export function receivingPace({ socket }: IncomingMessage): () => number {
  const [bytes, sinceMs] = [socket.bytesRead, performance.now()];
  return () => {
    const ageMs = performance.now() - sinceMs;
    return ageMs < YOUNG_MS ? Infinity : (socket.bytesRead - bytes) / ageMs;
  };
}

function leaveWithReply(request: FastifyRequest, { raw }: FastifyReply, ticket: Ticket): void {
  const leave = (): void => ticket.leave();
  leaves.set(request, leave);
  if (raw.destroyed) leave();
  else raw.once('close', leave);
}
