import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Authenticator } from './authenticator.js';
import { accessOf, isPage } from './access-policy.js';
import { basicToken, bearerToken } from './credentials.js';
import { INTERNAL_KEY_ID } from './internal-tokens.js';
import { type OriginGuard } from './origin-guard.js';
import { ANYBODY, demandScope, type Principal } from './principal.js';

const principals = new WeakMap<FastifyRequest, Principal>();

/** Who sent this request. @throws Error where the guard did not run: no handler may guess. */
export function principalOf(request: FastifyRequest): Principal {
  const principal = principals.get(request);
  if (!principal) throw new Error(`nobody authenticated ${request.method} ${request.routeOptions.url ?? request.url}`);
  return principal;
}

export const tenantOf = (request: FastifyRequest): string => principalOf(request).tenant;

export interface AccessOptions {
  readonly authenticator: Authenticator;
  readonly publicMetrics: boolean;
  readonly origins: OriginGuard;
}

/**
 * The guard of every route, Swagger and unknown ones included. A Fastify hook and not a Nest guard, because those see
 * Nest's own routes only. Runs before any body is read.
 */
export function registerAccessHooks(
  fastify: FastifyInstance,
  { authenticator, publicMetrics, origins }: AccessOptions,
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url;
    const access = accessOf(route, { publicMetrics });
    try {
      const principal = access === 'public' ? ANYBODY : entering(request, reply, authenticator);
      principals.set(request, principal);
      if (access !== 'public' && principal.keyId !== INTERNAL_KEY_ID)
        origins.demandRequest(request.method, request.headers);
      if (access !== 'public' && access !== 'any') demandScope(principalOf(request), access);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}

function entering(request: FastifyRequest, reply: FastifyReply, authenticator: Authenticator): Principal {
  const { headers, ip: address } = request;
  const page = isPage(request.routeOptions.url);
  try {
    const token = bearerToken(headers) ?? (page ? basicToken(headers) : undefined);
    return authenticator.authenticateRequest(token, { headers, address });
  } catch (error) {
    void reply.header('www-authenticate', page ? 'Basic realm="Switchyard, the key as password"' : 'Bearer');
    throw error;
  }
}
