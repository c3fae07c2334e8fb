import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isWork } from '../../contracts/endpoints.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { type RateLimiter, type Ticket } from './rate-limiter.js';
import { limitHeaders } from './limit-headers.js';

const tickets = new WeakMap<FastifyRequest, Ticket>();
const kept = new WeakSet<FastifyRequest>();

/** Its place is given back by the caller of this, not by the end of the answer: the work outlives its connection. */
export function keepTicket(request: FastifyRequest): () => void {
  kept.add(request);
  return () => tickets.get(request)?.leave();
}

export interface LimitHookOptions {
  readonly desk: RateLimiter;
  /** Requests that were counted when they first came. */
  readonly isCounted: (request: FastifyRequest) => boolean;
}

/** After the guard, before any body is read: an upload that is refused is not taken in. Looking at things is free. */
export function registerLimitHooks(fastify: FastifyInstance, { desk, isCounted }: LimitHookOptions): void {
  fastify.addHook('onRequest', async (request, reply) => {
    const { url } = request.routeOptions;
    if (request.method !== 'POST' || url === undefined || !isWork(url) || isCounted(request)) return;
    const ticket = await desk.enter(principalOf(request), request.id, standing => {
      void reply.headers(limitHeaders(standing));
    });
    if (ticket) leaveWithReply(request, reply, ticket);
  });
}

function leaveWithReply(request: FastifyRequest, reply: FastifyReply, ticket: Ticket): void {
  tickets.set(request, ticket);
  const leave = (): void => {
    if (!kept.has(request)) ticket.leave();
  };
  if (reply.raw.destroyed) leave();
  else reply.raw.once('close', leave);
}
