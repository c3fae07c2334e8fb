import type { FastifyReply, FastifyRequest } from 'fastify';
import { listed } from './networks.js';

const METHODS = 'GET, POST, PATCH, DELETE';

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

  /**
   * Marks answers to pages of other origins, and answers their preflights: then true.
   * Comes before the guard: a browser sends no key with a preflight.
   */
  answersPreflight(
    origin: string,
    { headers, method }: FastifyRequest,
    reply: FastifyReply,
  ): boolean {
    if (!this.allows(origin)) return false;
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
}

function exactOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const origin = url && serialized(url);
  if (origin !== undefined && !text.includes('*') && origin === text.replace(/\/$/, ''))
    return origin;
  throw new Error(`\`${text}\` is no origin such as https://app.example.com or tauri://localhost`);
}

/**
 * As a browser or a web view sends it. URL knows the origins of the web's own schemes
 * only: those of others are `null` to it.
 */
function serialized({ origin, protocol, host }: URL) {
  if (origin !== 'null') return origin;
  return host === '' ? undefined : `${protocol}//${host}`;
}
