import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Settings } from '../config/settings.js';
import { type Authenticator, bearerToken, type SignedIn } from './authenticator.js';
import { forwardedUsers } from './forwarded-users.js';
import { type OriginGuard } from './host-and-origin-guard.js';
import { type KeyRing } from './key-ring.js';
import { ANYBODY, demandScope, type KeyScope, type Principal } from './principal.js';
import { INTERNAL_KEY_ID, sessionToken } from './short-lived-tokens.js';

/** `public`: no key needed; `any`: any valid key will do. */
type Access = 'public' | 'any' | KeyScope;

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

/**
 * Pages that a person opens in a browser, which can ask for a password but
 * send no `Bearer`.
 */
const PAGES = /^\/docs(-json|-yaml)?(\/|$)/;

const RULES: readonly (readonly [pattern: RegExp, access: Access])[] = [
  [/^\/(v1|api)\//, 'inference'],
  [/^\/(asr|detect-language|tokenize|detokenize)$/, 'inference'],
  // A guard of Nest's asks for the scope: every one of them is a route of Nest's.
  [/^\/admin\/v1\//, 'any'],
  [PAGES, 'any'],
];

/**
 * What a route asks for, by its registered pattern: `/v1/requests/:id`. Deny by default:
 * what no rule knows asks for `admin`. `undefined` is a path without a route: its 404 is
 * for those who hold a key.
 */
export function accessOf(
  route: string | undefined,
  { publicMetrics }: { readonly publicMetrics: boolean },
): Access {
  if (route === undefined) return 'any';
  if (PUBLIC_ROUTES.includes(route) || (publicMetrics && route === '/metrics')) return 'public';
  for (const [pattern, access] of RULES) if (pattern.test(route)) return access;
  return 'admin';
}

const isPage = (route: string | undefined) => route !== undefined && PAGES.test(route);

const principals = new WeakMap<FastifyRequest, Principal>();

/**
 * Who sent this request. @throws Error where the guard did not run: no handler may guess.
 */
export function principalOf(request: FastifyRequest): Principal {
  const principal = principals.get(request);
  if (!principal)
    throw new Error(
      `no authentication ran for ${request.method} ${request.routeOptions.url ?? request.url}`,
    );
  return principal;
}

/** Undefined where the request was refused before its key was known. */
export const knownPrincipalOf = (request: FastifyRequest): Principal | undefined =>
  principals.get(request);

/** Without the guard: its sender is known. */
export function admitAs(request: FastifyRequest, principal: Principal): void {
  principals.set(request, principal);
}

export const tenantOf = (request: FastifyRequest): string => principalOf(request).tenant;

/**
 * `Authorization: Basic base64(anything:KEY)` → KEY: what a browser sends after asking
 * for a password. Taken for pages only, because a browser repeats it by itself, also when
 * another site makes it send a form.
 */
function basicToken({ authorization }: FastifyRequest['headers']): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)\s*$/i.exec(authorization ?? '')?.[1];
  const [, password] = /:(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  return password || undefined;
}

/**
 * The guard of every route, Swagger and unknown ones included. A step of Fastify's and
 * not a Nest guard, because those see Nest's own routes only, and run when the body
 * has been read.
 */
export class AccessGuard {
  readonly #userOf: ReturnType<typeof forwardedUsers>;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly keys: KeyRing,
    private readonly origins: OriginGuard,
    private readonly rules: Settings['auth'],
  ) {
    this.#userOf = forwardedUsers(rules.forwardedUsersFrom);
  }

  /**
   * Admits the request, or throws a DomainError that says why not. A promise only where
   * the keys of an issuer may have to be fetched.
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const access = accessOf(request.routeOptions.url, this.rules);
    if (access === 'public') {
      principals.set(request, ANYBODY);
      return undefined;
    }
    const signedIn = this.#signedIn(
      request,
      reply,
      access === 'any' && isPage(request.routeOptions.url),
    );
    if (signedIn instanceof Promise)
      return signedIn.then(principal => this.#demand(request, principal, access));
    this.#demand(request, signedIn, access);
    return undefined;
  }

  #demand(request: FastifyRequest, principal: Principal, access: Exclude<Access, 'public'>) {
    principals.set(request, principal);
    if (principal.keyId !== INTERNAL_KEY_ID)
      this.origins.demandRequest(request.method, request.headers);
    if (access !== 'any') demandScope(principal, access);
  }

  #signedIn(request: FastifyRequest, reply: FastifyReply, page: boolean): SignedIn {
    const { headers } = request;
    const refuse = (error: unknown): never => {
      void reply.header(
        'www-authenticate',
        page ? 'Basic realm="Switchyard, the key as password"' : 'Bearer',
      );
      throw error;
    };
    try {
      const shown = bearerToken(headers) ?? (page ? basicToken(headers) : undefined);
      const principal = this.authenticator.authenticateRequest(
        shown ?? sessionToken(headers),
        request,
      );
      if (shown === undefined && this.keys.enabled)
        this.origins.demandSession(request.method, headers);
      if (!(principal instanceof Promise)) return this.#userOf(principal, request);
      return principal.then(found => this.#userOf(found, request)).catch(refuse);
    } catch (error) {
      return refuse(error);
    }
  }
}
