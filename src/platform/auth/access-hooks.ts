import { type IncomingMessage } from 'node:http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { type AllowedHosts, type CrossOrigins } from '../http/allowed-hosts.js';
import {
  type Authenticator,
  basicToken,
  bearerToken,
  type SignedIn,
} from './authenticator.js';
import { type ForwardedUsers } from './forwarded-users.js';
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
  if (PUBLIC_ROUTES.includes(route) || (publicMetrics && route === '/metrics'))
    return 'public';
  return RULES.find(([pattern]) => pattern.test(route))?.[1] ?? 'admin';
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

export const tenantOf = (request: FastifyRequest): string => principalOf(request).tenant;

/**
 * The guard of every route, Swagger and unknown ones included. A step of Fastify's and
 * not a Nest guard, because those see Nest's own routes only, and run when the body
 * has been read.
 */
export class AccessGuard {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly origins: OriginGuard,
    private readonly users: ForwardedUsers,
    private readonly rules: { readonly publicMetrics: boolean },
  ) {}

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

  #demand(
    request: FastifyRequest,
    principal: Principal,
    access: Exclude<Access, 'public'>,
  ) {
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
      if (shown === undefined && this.authenticator.enabled)
        this.origins.demandSession(request.method, headers);
      if (!(principal instanceof Promise))
        return this.users.principalOf(principal, request);
      return principal
        .then(found => this.users.principalOf(found, request))
        .catch(refuse);
    } catch (error) {
      return refuse(error);
    }
  }
}

type Headers = IncomingMessage['headers'];

/** Requests that change nothing; a page of another origin cannot read their answers. */
const READING = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Keeps web pages of other origins out. Where keys are asked for, a page must know one,
 * so only WebSockets are checked, which browsers open to anywhere. Without keys (D-32)
 * every request is: its `Host`, and the origin of what changes something.
 */
export class OriginGuard {
  /** @param keyless true while no keys are asked for */
  constructor(
    private readonly keyless: () => boolean,
    private readonly cors: CrossOrigins,
    private readonly hosts: AllowedHosts,
  ) {}

  /** @throws DomainError `host_not_allowed`, `origin_not_allowed` */
  demandRequest(method: string, headers: Headers): void {
    if (!this.keyless()) return;
    this.demandHost(headers);
    if (!READING.includes(method)) this.#demandOrigin(headers);
  }

  /**
   * A request that a browser signed by itself, by cookie: what changes something comes
   * from our own pages.
   * @throws DomainError `origin_not_allowed`
   */
  demandSession(method: string, headers: Headers): void {
    if (!READING.includes(method)) this.#demandOrigin(headers);
  }

  /**
   * A WebSocket's opening request. @throws DomainError `host_not_allowed`,
   * `origin_not_allowed`
   */
  demandUpgrade(headers: Headers): void {
    if (this.keyless()) this.demandHost(headers);
    this.#demandOrigin(headers);
  }

  /** @throws DomainError `host_not_allowed` */
  demandHost({ host }: Headers): void {
    if (this.hosts.accepts(host)) return;
    throw new DomainError(
      'host_not_allowed',
      `The server asks for no API keys, so it serves this machine and \`server.allowed_hosts\` only, ` +
        `not the Host ${quoted(host)}.`,
      { param: 'Host' },
    );
  }

  /** Programs (no Origin), pages of this server, and `server.cors_origins`. */
  #demandOrigin(headers: Headers) {
    const { origin, host } = headers;
    const site = headers['sec-fetch-site'] ?? 'none';
    if (
      origin === undefined
        ? site === 'none' || site === 'same-origin'
        : this.#isOwn(origin, host)
    )
      return;
    throw new DomainError(
      'origin_not_allowed',
      `Web pages of the origin ${quoted(origin)} may not do this; \`server.cors_origins\` names those that may.`,
      { param: 'Origin' },
    );
  }

  /** Pages of this server come by HTTP: `app://127.0.0.1:8000` is another program's. */
  #isOwn(origin: string, host: string | undefined): boolean {
    return (
      this.cors.allows(origin) ||
      (/^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).host === host)
    );
  }
}

const LONGEST_QUOTE = 100;
const quoted = (value = '(none)') => `\`${value.slice(0, LONGEST_QUOTE)}\``;
