import { type IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../config/settings.js';
import { CrossOrigins } from '../http/cross-origins.js';
import { bareHost, isLoopback, listed } from '../http/networks.js';
import { KeyRing } from './key-ring.js';

/** Requests that change nothing; a page of another origin cannot read their answers. */
const READING = ['GET', 'HEAD', 'OPTIONS'];

/** `name:8000`, `[::1]:8000` and both without a port. */
const HOST_HEADER = /^(\[[^\]]*\]|[^:/?#@]*)(:\d*)?$/;

/**
 * Keeps web pages of other origins out. Where keys are asked for, a page must know one,
 * so only WebSockets are checked, which browsers open to anywhere. Without keys (D-32)
 * every request is: its `Host`, and the origin of what changes something.
 */
@Injectable()
export class OriginGuard {
  readonly #cors: CrossOrigins;
  /** This machine, the address the server listens on, and `server.allowed_hosts`. */
  readonly #hosts: ReadonlySet<string>;

  constructor(
    private readonly keys: KeyRing,
    private readonly settings: Settings,
  ) {
    const { corsOrigins, host, allowedHosts } = settings.server;
    this.#cors = new CrossOrigins(corsOrigins);
    this.#hosts = new Set([host, ...listed(allowedHosts)].map(bareHost));
  }

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
    if (this.#servesHost(host)) return;
    throw new DomainError(
      'host_not_allowed',
      `The server asks for no API keys, so it serves this machine and \`server.allowed_hosts\` only, ` +
        `not the Host ${quoted(host)}.`,
      { param: 'Host' },
    );
  }

  /**
   * Which `Host` a request may name where no keys are asked for (D-32). A web page whose
   * own name was made to resolve to this machine (DNS rebinding) names itself. Addresses in
   * place of names cannot be rebound: where `auth.allow_anonymous` opens the server,
   * they are accepted too.
   * @param header absent with HTTP/1.0, which no browser speaks
   */
  #servesHost(header: string | undefined): boolean {
    if (header === undefined || this.#hosts.has('*')) return true;
    const host = HOST_HEADER.exec(header)?.[1];
    if (host === undefined) return false;
    const name = bareHost(host);
    const isAddress = this.settings.auth.allowAnonymous && isIP(name) !== 0;
    return this.#hosts.has(name) || isLoopback(host) || isAddress;
  }

  /** Programs (no Origin), pages of this server, and `server.cors_origins`. */
  #demandOrigin(headers: IncomingHttpHeaders) {
    const { origin, host } = headers;
    const site = headers['sec-fetch-site'] ?? 'none';
    if (
      origin === undefined ? site === 'none' || site === 'same-origin' : this.#isOwn(origin, host)
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
      this.#cors.allows(origin) ||
      (/^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).host === host)
    );
  }
}

const LONGEST_QUOTE = 100;
const quoted = (value = '(none)') => `\`${value.slice(0, LONGEST_QUOTE)}\``;
