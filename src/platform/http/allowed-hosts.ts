import { isIP } from 'node:net';
import { bareHost, isLoopback, listed } from './networks.js';
import type { FastifyReply, FastifyRequest } from 'fastify';

const METHODS = 'GET, POST, DELETE';

const PREFLIGHT_SECONDS = '600';

/** `server.cors_origins`: which other web pages may call this server. */
export class CrossOrigins {
  readonly #any: boolean;
  readonly #origins: ReadonlySet<string>;

  /**
   * @param text origins with commas, or `*`. @throws Error naming what is not an origin
   */
  constructor(text: string) {
    const origins = listed(text);
    this.#any = origins.includes('*');
    this.#origins = new Set(origins.filter(origin => origin !== '*').map(exactOrigin));
  }

  allows(origin: string): boolean {
    return this.#any || this.#origins.has(origin);
  }
}

/**
 * Marks answers to pages of other origins, and answers their preflights: then true. Comes
 * before the guard: a browser sends no key with a preflight.
 */
export function answersPreflight(
  origins: CrossOrigins,
  origin: string,
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (!origins.allows(origin)) return false;
  void reply.headers({ 'access-control-allow-origin': origin, vary: 'Origin' });
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined)
    return false;
  void reply
    .headers({
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
      'access-control-max-age': PREFLIGHT_SECONDS,
    })
    .code(204)
    .send();
  return true;
}

function exactOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const origin = url && serialized(url);
  if (origin !== undefined && !text.includes('*') && origin === text.replace(/\/$/, ''))
    return origin;
  throw new Error(
    `\`${text}\` is no origin such as https://app.example.com or tauri://localhost`,
  );
}

/**
 * As a browser or a web view sends it. URL knows the origins of the web's own schemes
 * only: those of others are `null` to it.
 */
function serialized({ origin, protocol, host }: URL) {
  if (origin !== 'null') return origin;
  return host === '' ? undefined : `${protocol}//${host}`;
}

/** `name:8000`, `[::1]:8000` and both without a port. */
const HOST_HEADER = /^(\[[^\]]*\]|[^:/?#@]*)(:\d*)?$/;

/**
 * Which `Host` a request may name where no keys are asked for (D-32): this machine,
 * the address the server listens on, and `server.allowed_hosts`. A web page whose own
 * name was made to resolve to this machine (DNS rebinding) names itself. Addresses in
 * place of names cannot be rebound: where `auth.allow_anonymous` opens the server,
 * they are accepted too.
 */
export class AllowedHosts {
  readonly #named: ReadonlySet<string>;
  readonly #addresses: boolean;

  constructor({
    server,
    auth,
  }: {
    readonly server: { readonly host: string; readonly allowedHosts: string };
    readonly auth: { readonly allowAnonymous: boolean };
  }) {
    this.#named = new Set([server.host, ...listed(server.allowedHosts)].map(bareHost));
    this.#addresses = auth.allowAnonymous;
  }

  /** @param header value of `Host`; absent with HTTP/1.0, which no browser speaks */
  accepts(header: string | undefined): boolean {
    if (header === undefined || this.#named.has('*')) return true;
    const host = HOST_HEADER.exec(header)?.[1];
    if (host === undefined) return false;
    const name = bareHost(host);
    return (
      this.#named.has(name) || isLoopback(host) || (this.#addresses && isIP(name) !== 0)
    );
  }
}
