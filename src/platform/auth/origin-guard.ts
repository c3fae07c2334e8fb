import { type IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../core/errors/domain-error.js';
import { type KeyRing } from './key-ring.js';
import { type AllowedHosts, type CrossOrigins } from '../http/allowed-hosts.js';

/** Requests that change nothing; a page of another origin cannot read their answers. */
const READING = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Keeps web pages of other origins out. Where keys are asked for, a page must know one,
 * so only WebSockets are checked, which browsers open to anywhere. Without keys (D-32)
 * every request is: its `Host`, and the origin of what changes something.
 */
export class OriginGuard {
  constructor(
    private readonly keys: Pick<KeyRing, 'enabled'>,
    private readonly cors: CrossOrigins,
    private readonly hosts: AllowedHosts,
  ) {}

  /** @throws DomainError `host_not_allowed`, `origin_not_allowed` */
  demandRequest(method: string, headers: IncomingHttpHeaders): void {
    if (this.keys.enabled) return;
    this.#demandHost(headers);
    if (!READING.includes(method)) this.#demandOrigin(headers);
  }

  /**
   * A request that a browser signed by itself, by cookie: what changes something comes
   * from our own pages.
   * @throws DomainError `origin_not_allowed`
   */
  demandSession(method: string, headers: IncomingHttpHeaders): void {
    if (!READING.includes(method)) this.#demandOrigin(headers);
  }

  /**
   * A WebSocket's opening request. @throws DomainError `host_not_allowed`,
   * `origin_not_allowed`
   */
  demandUpgrade(headers: IncomingHttpHeaders): void {
    if (!this.keys.enabled) this.#demandHost(headers);
    this.#demandOrigin(headers);
  }

  #demandHost({ host }: IncomingHttpHeaders) {
    if (this.hosts.accepts(host)) return;
    throw new DomainError(
      'host_not_allowed',
      `The server asks for no API keys, so it serves this machine and \`server.allowed_hosts\` only, ` +
        `not the Host ${quoted(host)}.`,
      { param: 'Host' },
    );
  }

  /** Programs (no Origin), pages of this server, and `server.cors_origins`. */
  #demandOrigin(headers: IncomingHttpHeaders) {
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
