import { type FastifyInstance } from 'fastify';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { INTERNAL_KEY_ID } from '../../platform/auth/internal-tokens.js';
import { type Settings } from '../../platform/config/settings.js';
import { type InnerRequests } from './inner-requests.js';
import { type IdempotencyService } from './idempotency.service.js';
import { idempotencyOptions } from './idempotency-options.js';

interface IdempotencyHookOptions {
  readonly service: IdempotencyService;
  readonly inner: InnerRequests;
  /** A given X-Request-Id means the same as an Idempotency-Key. */
  readonly byRequestId: boolean;
  /** False: no header stores an answer for a retry. `Prefer: respond-async` works regardless. */
  readonly idempotent: boolean;
}

/**
 * Runs after the guard and the limits, before any body is read. A request served here does not reach its route itself.
 */
export function registerIdempotencyHooks(fastify: FastifyInstance, options: IdempotencyHookOptions): void {
  const { service, inner, byRequestId, idempotent } = options;
  fastify.addHook('onRequest', async (request, reply) => {
    if (inner.isInner(request.headers)) return inner.attachCaller(request);
    const wanted = idempotencyOptions(request, byRequestId);
    if (!wanted || (wanted.mode === 'waiting' && !idempotent)) return;
    // The results of batch lines are stored by their job.
    if (principalOf(request).keyId === INTERNAL_KEY_ID) return;
    await service.serve(request, reply, wanted);
    return reply;
  });
}

/** Request ids count as keys only with a shared database: elsewhere no other gateway could find the answer. */
export function idempotency({
  requests,
  database,
}: Settings): Pick<IdempotencyHookOptions, 'byRequestId' | 'idempotent'> {
  const { idempotency: wanted } = requests;
  const byRequestId = wanted === 'request_id' || (wanted === 'auto' && database.url !== '');
  return { byRequestId, idempotent: wanted !== 'off' };
}
