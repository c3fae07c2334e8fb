import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Authenticator, basicToken, bearerToken, type SignedIn } from './authenticator.js';
import { type ForwardedUsers } from './forwarded-users.js';
import { INTERNAL_KEY_ID } from './internal-tokens.js';
import { type OriginGuard } from './origin-guard.js';
import { ANYBODY, demandScope, type KeyScope, type Principal } from './principal.js';
import { sessionToken } from './session-cookie.js';

/** `public`: no key needed; `any`: any valid key will do. */
export type Access = 'public' | 'any' | KeyScope;

/** Everything that answers without a key. A route that is not named here asks for one. */
export const PUBLIC_ROUTES: readonly string[] = [
  // They say where things are, and nothing else.
  '/',
  '/events',
  '/health',
  '/health/live',
  '/health/ready',
  '/healthz',
  '/readyz',
  // Pages without data: they ask for the key themselves. The session route judges it.
  '/console',
  '/console/:view',
  '/console/:view/:id',
  '/console/assets/:file',
  '/console/session',
];

/** Pages that a person opens in a browser, which can ask for a password but send no `Bearer`. */
const PAGES = /^\/docs(-json|-yaml)?(\/|$)/;

const RULES: readonly (readonly [pattern: RegExp, access: Access])[] = [
  [/^\/v1\//, 'inference'],
  [/^\/(asr|detect-language|tokenize|detokenize)$/, 'inference'],
  [PAGES, 'any'],
];

/**
 * What a route asks for, by its registered pattern: `/v1/requests/:id`. Deny by default: what no rule knows asks for
 * `admin`. `undefined` is a path without a route: its 404 is for those who hold a key.
 */
export function accessOf(route: string | undefined, { publicMetrics }: { readonly publicMetrics: boolean }): Access {
  if (route === undefined) return 'any';
  if (PUBLIC_ROUTES.includes(route) || (publicMetrics && route === '/metrics')) return 'public';
  return RULES.find(([pattern]) => pattern.test(route))?.[1] ?? 'admin';
}

export const isPage = (route: string | undefined): boolean => route !== undefined && PAGES.test(route);

const principals = new WeakMap<FastifyRequest, Principal>();

/** Who sent this request. @throws Error where the guard did not run: no handler may guess. */
export function principalOf(request: FastifyRequest): Principal {
  const principal = principals.get(request);
  if (!principal)
    throw new Error(`no authentication ran for ${request.method} ${request.routeOptions.url ?? request.url}`);
  return principal;
}

/** Undefined where the request was refused before its key was known. */
export const knownPrincipalOf = (request: FastifyRequest): Principal | undefined => principals.get(request);

export const tenantOf = (request: FastifyRequest): string => principalOf(request).tenant;

export interface AccessOptions {
  readonly authenticator: Authenticator;
  readonly publicMetrics: boolean;
  readonly origins: OriginGuard;
  readonly users: ForwardedUsers;
}

/**
 * The guard of every route, Swagger and unknown ones included. A Fastify hook and not a Nest guard, because those see
 * Nest's own routes only. Runs before any body is read.
 */
export function registerAccessHooks(
  fastify: FastifyInstance,
  { authenticator, publicMetrics, origins, users }: AccessOptions,
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url;
    const access = accessOf(route, { publicMetrics });
    const admit = (principal: Principal): void => {
      principals.set(request, principal);
      if (access !== 'public' && principal.keyId !== INTERNAL_KEY_ID)
        origins.demandRequest(request.method, request.headers);
      if (access !== 'public' && access !== 'any') demandScope(principal, access);
    };
    const refuse = (error: unknown): void => done(error as Error);
    try {
      const signedIn = access === 'public' ? ANYBODY : entering(request, reply, { authenticator, origins, users });
      if (signedIn instanceof Promise) return void signedIn.then(admit).then(() => done(), refuse);
      admit(signedIn);
    } catch (error) {
      return refuse(error);
    }
    done();
  });
}

function entering(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticator, origins, users }: Omit<AccessOptions, 'publicMetrics'>,
): SignedIn {
  const { headers, ip: address } = request;
  const page = isPage(request.routeOptions.url);
  const refuse = (error: unknown): never => {
    void reply.header('www-authenticate', page ? 'Basic realm="Switchyard, the key as password"' : 'Bearer');
    throw error;
  };
  try {
    const shown = bearerToken(headers) ?? (page ? basicToken(headers) : undefined);
    const principal = authenticator.authenticateRequest(shown ?? sessionToken(headers), { headers, address });
    if (shown === undefined && authenticator.enabled) origins.demandSession(request.method, headers);
    const known = (found: Principal): Principal => users.principalOf(found, headers, address);
    return principal instanceof Promise ? principal.then(known).catch(refuse) : known(principal);
  } catch (error) {
    return refuse(error);
  }
}
