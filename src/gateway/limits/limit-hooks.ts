import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isLimited } from '../../contracts/endpoints.js';
import { type Allowance, type RateLimitStatus } from '../../core/limits/limit-rules.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { type IntakeBound } from './intake-bound.js';
import { type RateLimiter, type Ticket } from './rate-limiter.js';

/** OpenAI's headers, and a third group for seconds of audio. A quantity without a limit has no header. */
function limitHeaders({ requests, tokens, audioSeconds }: RateLimitStatus): Record<string, string> {
  return {
    ...group('requests', requests),
    ...group('tokens', tokens),
    ...group('audio-seconds', audioSeconds),
  };
}

const group = (what: string, allowance: Allowance | undefined): Record<string, string> =>
  allowance
    ? {
        [`x-ratelimit-limit-${what}`]: String(allowance.limit),
        [`x-ratelimit-remaining-${what}`]: String(allowance.remaining),
        [`x-ratelimit-reset-${what}`]: duration(allowance.resetMs),
      }
    : {};

/** As OpenAI writes durations: `20ms`, `7.66s`, `6m0s`. Rounded up, so that the limit has reset by then. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  if (ms < 60_000) return `${Math.ceil(ms / 10) / 100}s`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`;
}

const tickets = new WeakMap<FastifyRequest, Ticket>();
const detached = new WeakSet<FastifyRequest>();

/** The work outlives its connection: the ticket is released by the function returned, not by the end of the answer. */
export function detachTicket(request: FastifyRequest): () => void {
  detached.add(request);
  return () => tickets.get(request)?.leave();
}

interface LimitHookOptions {
  readonly limiter: RateLimiter;
  readonly intake: IntakeBound;
  /** True for requests that were counted before. */
  readonly isCounted: (request: FastifyRequest) => boolean;
}

/** Runs after the guard, before any body is read, so that a rejected upload is not received. Reading is free. */
export function registerLimitHooks(fastify: FastifyInstance, { limiter, intake, isCounted }: LimitHookOptions): void {
  fastify.addHook('onRequest', async (request, reply) => {
    const { url } = request.routeOptions;
    if (request.method !== 'POST' || url === undefined || !isLimited(url) || isCounted(request)) return;
    intake.enter(request.id, reply.raw);
    const ticket = await limiter.enter(principalOf(request), request.id, status => {
      void reply.headers(limitHeaders(status));
    });
    if (ticket) leaveWithReply(request, reply, ticket);
  });
}

function leaveWithReply(request: FastifyRequest, reply: FastifyReply, ticket: Ticket): void {
  tickets.set(request, ticket);
  const leave = (): void => {
    if (!detached.has(request)) ticket.leave();
  };
  if (reply.raw.destroyed) leave();
  else reply.raw.once('close', leave);
}
