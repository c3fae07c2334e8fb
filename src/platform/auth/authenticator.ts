import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { type CellRate, take, waitMs } from '../../core/limits/cell-rate.js';
import { RecentMap } from '../../core/request/recent-map.js';
import { Settings } from '../config/settings.js';
import { listed } from '../http/networks.js';
import { TrustedProxies } from '../http/trusted-proxies.js';
import { IssuerTokens } from './issuer-tokens.js';
import { KeyRing } from './key-ring.js';
import { keyDigest } from './key-secret.js';
import { ANYBODY, type Principal } from './principal.js';
import { ShortLivedTokens, INTERNAL_KEY_ID, sessionToken } from './short-lived-tokens.js';
import { StoredKeys } from './stored-keys.js';

/**
 * Browsers cannot set headers on a WebSocket; OpenAI's way out is a subprotocol
 * of this name.
 */
const KEY_SUBPROTOCOL = 'openai-insecure-api-key.';

/**
 * `Authorization: Bearer KEY` → KEY; else the key in the header of Azure's or
 * Anthropic's clients.
 */
export function bearerToken(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  return bearer ?? (headers['api-key'] || headers['x-api-key'] || undefined)?.toString();
}

/** The key among the offered WebSocket subprotocols. */
export function subprotocolToken(headers: IncomingHttpHeaders): string | undefined {
  const offered = listed(headers['sec-websocket-protocol'] ?? '');
  const carrier = offered.find(protocol => protocol.startsWith(KEY_SUBPROTOCOL));
  return carrier?.slice(KEY_SUBPROTOCOL.length) || undefined;
}

/**
 * `io(url, { auth: { token } })`; headers serve those who can set them, the
 * cookie the console.
 */
function handshakeToken(auth: unknown, headers: IncomingHttpHeaders): string | undefined {
  const { token } = (auth ?? {}) as { token?: unknown };
  return typeof token === 'string' && token !== ''
    ? token
    : (bearerToken(headers) ?? sessionToken(headers));
}

const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/**
 * Wrong keys by address. It never rejects a valid key: keys are 256 random bits and
 * cannot be guessed, but whoever could lock an address out could lock out all clients
 * behind the same proxy. Addresses are bounded; the eldest are forgotten first.
 * @param perMinute 0 = unlimited
 * @returns what a failure is answered with: itself, or `rate_limit_exceeded` once there
 *   were too many
 */
function limitFailures(perMinute: number): (error: unknown, address: string) => unknown {
  const rate: CellRate = { limit: perMinute, periodMs: MINUTE_MS };
  const paidMs = new RecentMap<number>(MAX_ADDRESSES);
  return (error, address) => {
    const isCounted = error instanceof DomainError && error.code === 'invalid_api_key';
    if (perMinute === 0 || !isCounted) return error;
    const nowMs = performance.now();
    const paidBeforeMs = paidMs.get(address) ?? 0;
    const retryAfterMs = waitMs(rate, paidBeforeMs, 1, nowMs);
    if (retryAfterMs > 0)
      return new DomainError(
        'rate_limit_exceeded',
        'Too many wrong API keys came from this address.',
        { retryAfterMs },
      );
    paidMs.add(address, take(rate, paidBeforeMs, 1, nowMs));
    return error;
  };
}

/**
 * A promise only for a token of the OIDC issuer, whose keys may have to be fetched: all
 * others are known at once.
 */
export type SignedIn = Principal | Promise<Principal>;

const OWN_PROCESS: Principal = { ...ANYBODY, keyId: INTERNAL_KEY_ID };

/** Who is calling? The same answer for HTTP, WebSockets and Socket.IO. */
@Injectable()
export class Authenticator {
  readonly #answerTo: ReturnType<typeof limitFailures>;
  readonly #issued: IssuerTokens | undefined;
  readonly #proxies: TrustedProxies;

  constructor(
    private readonly keys: KeyRing,
    private readonly tokens: ShortLivedTokens,
    { auth, server }: Settings,
    private readonly stored: StoredKeys,
  ) {
    this.#answerTo = limitFailures(auth.failuresPerMinute);
    this.#issued = auth.oidcIssuer === '' ? undefined : new IssuerTokens(auth);
    this.#proxies = new TrustedProxies(server.trustedProxies);
  }

  /**
   * While no keys are required, every client is `ANYBODY`, whatever it presents. Only our
   * own processes still say who they are: nothing of theirs is counted twice.
   * @throws DomainError `invalid_api_key`, `issuer_unavailable`
   */
  authenticate(token: string | undefined): SignedIn {
    if (!this.keys.enabled) {
      const principal = token === undefined ? undefined : this.tokens.verify(token);
      return principal?.keyId === INTERNAL_KEY_ID ? OWN_PROCESS : ANYBODY;
    }
    if (token === undefined)
      throw refusal('No API key was given; send `Authorization: Bearer KEY`.');
    const principal = this.keys.find(token) ?? this.#shortLived(token);
    if (principal) return principal;
    if (this.#issued?.recognises(token)) return this.#issued.principalOf(token);
    throw refusal('The API key is not valid: unknown, withdrawn or expired.');
  }

  /**
   * A request over HTTP. Failures count by address, where something was tried.
   * @param token from its headers
   * @param caller its `ip` costs something behind proxies: it is read after a failure only
   * @throws DomainError `invalid_api_key`, `rate_limit_exceeded` after too many
   */
  authenticateRequest(
    token: string | undefined,
    caller: Pick<FastifyRequest, 'headers' | 'ip'>,
    tried = (caller.headers.authorization ?? bearerToken(caller.headers)) !== undefined,
  ): SignedIn {
    const refuse = (error: unknown): never => {
      throw tried ? this.#answerTo(error, caller.ip) : error;
    };
    try {
      const principal = this.authenticate(token);
      return principal instanceof Promise ? principal.catch(refuse) : principal;
    } catch (error) {
      return refuse(error);
    }
  }

  /**
   * A WebSocket's opening request: header, OpenAI's subprotocol, or the console's cookie.
   * @throws DomainError as `authenticateRequest`
   */
  authenticateUpgrade({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): SignedIn {
    const token = bearerToken(headers) ?? subprotocolToken(headers) ?? sessionToken(headers);
    const ip = this.#proxies.clientOf(headers, socket.remoteAddress);
    return this.authenticateRequest(token, { headers, ip }, token !== undefined);
  }

  /**
   * A Socket.IO handshake: `auth.token`, or the header.
   * @throws DomainError as `authenticateRequest`
   */
  authenticateHandshake({
    auth,
    headers,
    address,
  }: {
    readonly auth: unknown;
    readonly headers: IncomingMessage['headers'];
    readonly address?: string | undefined;
  }): SignedIn {
    const token = handshakeToken(auth, headers);
    const ip = this.#proxies.clientOf(headers, address);
    return this.authenticateRequest(token, { headers, ip }, token !== undefined);
  }

  /**
   * False once its key was withdrawn. For connections that outlive many requests. A token
   * of the OIDC issuer cannot be withdrawn: what it opened may stay open.
   */
  isCurrent({ keyId = '' }: Principal): boolean {
    if (!this.keys.enabled || keyId === INTERNAL_KEY_ID) return true;
    return this.keys.has(keyId) || (this.#issued?.hasId(keyId) ?? false);
  }

  /**
   * Ends a session of the console: refused from now on here, and at the other gateways of
   * the database once they know.
   * @throws what the store throws; it may be tried again
   */
  async endSession(token: string): Promise<void> {
    const expiresAtMs = this.tokens.expiryOf(token);
    if (expiresAtMs !== undefined) await this.stored.endSession(keyDigest(token), expiresAtMs);
  }

  #shortLived(token: string): Principal | undefined {
    const principal = this.tokens.verify(token);
    return principal && this.isCurrent(principal) && !this.stored.isEnded(token)
      ? principal
      : undefined;
  }
}

const refusal = (message: string): DomainError => new DomainError('invalid_api_key', message);
