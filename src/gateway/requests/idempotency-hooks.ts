import { type FastifyInstance } from 'fastify';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { INTERNAL_KEY_ID } from '../../platform/auth/internal-tokens.js';
import { type Settings } from '../../platform/config/settings.js';
import { type InnerRequests } from './inner-requests.js';
import { type IdempotencyService } from './idempotency.service.js';
import { idempotencyOptions } from './idempotency-options.js';

export interface IdempotencyHookOptions {
  readonly desk: IdempotencyService;
  readonly inner: InnerRequests;
  /** A given X-Request-Id means the same as an Idempotency-Key. */
  readonly byRequestId: boolean;
  /** False: no header keeps an answer. `Prefer: respond-async` is not concerned. */
  readonly idempotent: boolean;
}

/** After the guard and the limits, before any body is read. What is served here never meets its route from outside. */
export function registerIdempotencyHooks(fastify: FastifyInstance, options: IdempotencyHookOptions): void {
  const { desk, inner, byRequestId, idempotent } = options;
  fastify.addHook('onRequest', async (request, reply) => {
    if (inner.isInner(request.headers)) return inner.welcome(request);
    const wish = idempotencyOptions(request, byRequestId);
    if (!wish || (wish.mode === 'waiting' && !idempotent)) return;
    // Lines of batches are kept by their job.
    if (principalOf(request).keyId === INTERNAL_KEY_ID) return;
    await desk.serve(request, reply, wish);
    return reply;
  });
}

/** Ids that proxies make up would be kept for nothing where no other gateway can find them. */
export function idempotency({
  requests,
  database,
}: Settings): Pick<IdempotencyHookOptions, 'byRequestId' | 'idempotent'> {
  const { idempotency: wanted } = requests;
  const byRequestId = wanted === 'request_id' || (wanted === 'auto' && database.url !== '');
  return { byRequestId, idempotent: wanted !== 'off' };
}
