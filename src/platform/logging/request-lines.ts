import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { type FastifyInstance } from 'fastify';

/**
 * Probes and scrapes come every few seconds and say nothing: kept off the log and
 * out of traces.
 */
export const QUIET_URL = /^\/(healthz?|readyz|metrics)(\/|\?|$)/;

const requests = new AsyncLocalStorage<string>();

/** The id of the HTTP request that the running code serves; nothing outside of one. */
export function requestFields(): object {
  const requestId = requests.getStore();
  return requestId === undefined ? {} : { requestId };
}

/**
 * One line per request when its connection is done with it, and `requestFields()`
 * inside it. A Fastify hook, because Nest's middleware on Fastify costs several times as
 * much. Comes before all other hooks, so that what those refuse is logged as well.
 */
export function logRequests(fastify: FastifyInstance): void {
  const logger = new Logger('Http');
  fastify.addHook('onRequest', (request, reply, done) => {
    // `onResponse` would never hear of a client that left.
    if (!QUIET_URL.test(request.url))
      reply.raw.once('close', () => {
        const { statusCode: status, writableEnded } = reply.raw;
        const line = {
          requestId: request.id,
          req: { method: request.method, path: request.url.split('?', 1)[0] },
          res: { status },
          responseTime: Math.round(reply.elapsedTime),
        };
        const outcome = writableEnded ? 'answered' : 'client gone';
        // A caller's mistake concerns the caller; only our own failures are errors here.
        logger[status === 500 ? 'error' : 'log'](
          line,
          status >= 500 ? 'failed to answer' : outcome,
        );
      });
    requests.run(request.id, done);
  });
}
