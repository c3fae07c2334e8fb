import { type IncomingHttpHeaders, type Server } from 'node:http';
import { type FastifyInstance } from 'fastify';
import { OpenConnections } from '../../platform/http/connections.js';
import { type BodyRate, BodyWatch } from './body-watch.js';
import { endSlowRequest, hasUnreadBody } from './error-reply.js';
import { unroutable } from './http-error.js';
import { type IntakeGate } from './intake-gate.js';
import { demandPlainMessage, refuseUnusableRequestId, REQUEST_ID_HEADER } from './request-headers.js';
import { EXPOSED_HEADERS } from './answer-headers.js';

/** Nothing of these can be cancelled or repeated under an id: an unusable one is replaced. */
const READING = ['GET', 'HEAD', 'OPTIONS'];

export interface HttpHookOptions {
  readonly gate: IntakeGate;
  readonly bodyRate: BodyRate;
}

/** Headers of every response, and the checks that come before any route, the unknown ones included. */
export function registerHttpHooks(fastify: FastifyInstance, { gate, bodyRate }: HttpHookOptions): void {
  const bodies = new BodyWatch(bodyRate);
  const connections = new OpenConnections(fastify.server);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (hasUnreadBody(raw)) bodies.watch(raw, () => endSlowRequest(raw, reply.raw));
    void reply.headers({ [REQUEST_ID_HEADER]: request.id, 'access-control-expose-headers': EXPOSED_HEADERS });
    forgetTypeOfNothing(request.headers);
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
 * Ends what no route takes before its body is read, whatever that is: else a wrong URL would be told as bad JSON or as an unknown
 * Content-Type. Comes after the guard, which tells strangers nothing about routes.
 */
export function registerUnroutedHook(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) done(unroutable(request));
    else done();
  });
}

/** OpenAI's Python SDK says `application/json` of a POST without a body, such as a cancel; the parser would refuse it. */
function forgetTypeOfNothing(headers: IncomingHttpHeaders): void {
  const empty = (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined;
  if (empty) delete headers['content-type'];
}

/** All requests are settled by now: this long may the last answers take, then uploads nobody waits for are cut. */
const LAST_WORDS_MS = 500;
/** WebSockets have this long for their close handshake. */
const LAST_SOCKETS_MS = 2500;

/** Without it, one client that sends slowly or never closes its side would hold up the end of the process. */
function cutAfter(server: Server, connections: OpenConnections): void {
  const requests = setTimeout(() => server.closeAllConnections(), LAST_WORDS_MS);
  const sockets = setTimeout(() => connections.destroyAll(), LAST_SOCKETS_MS);
  server.once('close', () => {
    clearTimeout(requests);
    clearTimeout(sockets);
  });
}
