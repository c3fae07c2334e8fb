import { type IncomingHttpHeaders, type Server } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { OpenConnections } from '../../platform/http/connections.js';
import { type BodyRate, BodyWatch } from './body-watch.js';
import { endSlowRequest, hasUnreadBody } from './error-reply.js';
import { type IntakeGate } from './intake-gate.js';
import {
  demandPlainMessage,
  refuseUnusableRequestId,
  REQUEST_ID_HEADER,
} from './request-headers.js';
import { EXPOSED_HEADERS } from './answer-headers.js';

/** These requests cannot be cancelled or retried by id, so an unusable id is replaced. */
const READING = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The first look at a request: headers of every answer, and what any request must have,
 * also one without a route.
 */
export class Reception {
  readonly #bodies: BodyWatch;

  constructor(
    private readonly gate: IntakeGate,
    bodyRate: BodyRate,
  ) {
    this.#bodies = new BodyWatch(bodyRate);
  }

  /** @throws DomainError */
  receive({ raw, id, method, headers, url }: FastifyRequest, reply: FastifyReply): void {
    if (hasUnreadBody(raw)) this.#bodies.watch(raw, () => endSlowRequest(raw, reply.raw));
    void reply.headers({
      [REQUEST_ID_HEADER]: id,
      'access-control-expose-headers': EXPOSED_HEADERS,
    });
    dropTypeOfEmptyBody(headers);
    demandPlainMessage(raw);
    if (!READING.includes(method)) refuseUnusableRequestId(headers);
    this.gate.pass(url);
  }
}

/** How connections begin and end. */
export function tendConnections(fastify: FastifyInstance): void {
  const connections = new OpenConnections(fastify.server);
  // Node would answer 417 without a body.
  fastify.server.on('checkExpectation', (message, response) =>
    fastify.server.emit('request', message, response),
  );
  fastify.addHook('preClose', done => {
    cutAfter(fastify.server, connections);
    done();
  });
}

/**
 * OpenAI's Python SDK sends `application/json` with a POST without a body, such as a
 * cancel; the parser would reject it.
 */
function dropTypeOfEmptyBody(headers: IncomingHttpHeaders): void {
  const empty =
    (headers['content-length'] ?? '0') === '0' &&
    headers['transfer-encoding'] === undefined;
  if (empty) delete headers['content-type'];
}

/**
 * All requests are settled by now: time for the last answers; then unread
 * uploads are closed.
 */
const LAST_ANSWERS_MS = 500;
/** WebSockets have this long for their close handshake. */
const LAST_SOCKETS_MS = 2500;

/**
 * Without it, a client that sends slowly or never closes its side would delay the end
 * of the process.
 */
function cutAfter(server: Server, connections: OpenConnections): void {
  const requests = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
  const sockets = setTimeout(() => connections.destroyAll(), LAST_SOCKETS_MS);
  server.once('close', () => {
    clearTimeout(requests);
    clearTimeout(sockets);
  });
}
