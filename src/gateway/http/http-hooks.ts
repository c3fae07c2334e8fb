import { type IncomingHttpHeaders, type Server } from 'node:http';
import { type FastifyInstance } from 'fastify';
import { OpenConnections } from '../../platform/http/connections.js';
import { type BodyRate, BodyWatch } from './body-watch.js';
import { endSlowRequest, hasUnreadBody } from './error-reply.js';
import { unroutable } from './http-error.js';
import { type IntakeGate } from './intake-gate.js';
import { demandPlainMessage, refuseUnusableRequestId, REQUEST_ID_HEADER } from './request-headers.js';
import { EXPOSED_HEADERS } from './answer-headers.js';

/** These requests cannot be cancelled or retried by id, so an unusable id is replaced. */
const READING = ['GET', 'HEAD', 'OPTIONS'];

interface HttpHookOptions {
  readonly gate: IntakeGate;
  readonly bodyRate: BodyRate;
}

/** Headers of every response, and the checks before any route, including unknown ones. */
export function registerHttpHooks(fastify: FastifyInstance, { gate, bodyRate }: HttpHookOptions): void {
  const bodies = new BodyWatch(bodyRate);
  const connections = new OpenConnections(fastify.server);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (hasUnreadBody(raw)) bodies.watch(raw, () => endSlowRequest(raw, reply.raw));
    void reply.headers({ [REQUEST_ID_HEADER]: request.id, 'access-control-expose-headers': EXPOSED_HEADERS });
    dropTypeOfEmptyBody(request.headers);
    try {
      demandPlainMessage(raw);
      if (!READING.includes(request.method)) refuseUnusableRequestId(request.headers);
      gate.pass(request.url.split('?', 1)[0] ?? '');
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  // Node would answer 417 without a body.
  fastify.server.on('checkExpectation', (message, response) => fastify.server.emit('request', message, response));
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    void reply.header('openai-processing-ms', String(Math.round(reply.elapsedTime)));
    done(null, payload);
  });
  fastify.addHook('preClose', done => {
    cutAfter(fastify.server, connections);
    done();
  });
}

/**
 * Rejects a request that no route matches before its body is read: else a wrong URL would be reported as bad JSON or as
 * an unknown Content-Type. Runs after the guard, which reveals no routes to unauthorised callers.
 */
export function registerUnroutedHook(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) done(unroutable(request));
    else done();
  });
}

/**
 * OpenAI's Python SDK sends `application/json` with a POST without a body, such as a cancel; the parser would reject
 * it.
 */
function dropTypeOfEmptyBody(headers: IncomingHttpHeaders): void {
  const empty = (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined;
  if (empty) delete headers['content-type'];
}

/** All requests are settled by now: time for the last answers; then unread uploads are closed. */
const LAST_ANSWERS_MS = 500;
/** WebSockets have this long for their close handshake. */
const LAST_SOCKETS_MS = 2500;

/** Without it, a client that sends slowly or never closes its side would delay the end of the process. */
function cutAfter(server: Server, connections: OpenConnections): void {
  const requests = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
  const sockets = setTimeout(() => connections.destroyAll(), LAST_SOCKETS_MS);
  server.once('close', () => {
    clearTimeout(requests);
    clearTimeout(sockets);
  });
}
