import { type FastifyReply, type FastifyRequest } from 'fastify';
import { allowedMethods } from '../../contracts/endpoints.js';
import { errorEnvelope, retryHeaders } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/shared/domain-error.js';
import { hasUnreadBody, lingeringBody } from './lingering-body.js';
import { REQUEST_ID_HEADER } from './request-id.js';

/** nginx's name for it; Node knows none and would write "unknown". */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * Sends `error` as OpenAI's envelope. A body still on its way is not taken in: the answer goes out at once and the
 * connection closes behind it.
 */
export function sendError(error: DomainError, request: FastifyRequest, reply: FastifyReply): void {
  const body = Buffer.from(JSON.stringify(errorEnvelope(error)));
  void reply
    .code(error.definition.status)
    .headers({ ...retryHeaders(error), [REQUEST_ID_HEADER]: request.id })
    .type('application/json; charset=utf-8');
  if (error.definition.status === CLIENT_CLOSED_REQUEST) reply.raw.statusMessage = 'Client Closed Request';
  if (error.code === 'method_not_allowed') {
    void reply.header('allow', allowedMethods(request.url.split('?', 1)[0] ?? '').join(', '));
  }
  const unread = hasUnreadBody(request.raw);
  if (unread || error.code === 'shutting_down') void reply.header('connection', 'close');
  void (unread ? reply.header('content-length', body.length).send(lingeringBody(body, request.raw)) : reply.send(body));
}
