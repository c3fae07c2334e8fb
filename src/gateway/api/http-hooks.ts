import { type FastifyInstance } from 'fastify';
import { type IntakeGate } from './intake-gate.js';
import { REQUEST_ID_HEADER, refuseUnusableRequestId } from './request-id.js';
import { EXPOSED_HEADERS } from './request-timings.js';

/** Headers of every response, and the checks that come before any route, the unknown ones included. */
export function registerHttpHooks(fastify: FastifyInstance, gate: IntakeGate): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.headers({ [REQUEST_ID_HEADER]: request.id, 'access-control-expose-headers': EXPOSED_HEADERS });
    try {
      refuseUnusableRequestId(request.headers);
      gate.pass(request.url.split('?', 1)[0] ?? '');
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    void reply.header('openai-processing-ms', String(Math.round(reply.elapsedTime)));
    done(null, payload);
  });
}
