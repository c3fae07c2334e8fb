import { type IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/shared/domain-error.js';
import { FailedAttempts } from './failed-attempts.js';
import { bearerToken, handshakeToken, subprotocolToken } from './credentials.js';
import { INTERNAL_KEY_ID } from './internal-tokens.js';
import { KeyRing } from './key-ring.js';
import { ANYBODY, type Principal } from './principal.js';
import { type ShortLivedToken, ShortLivedTokens, type TokenGrant } from './short-lived-tokens.js';

export interface Caller {
  readonly headers: IncomingMessage['headers'];
  /** IP address of the peer. */
  readonly address?: string | undefined;
}

/** Who is calling? The same answer for HTTP, WebSockets and Socket.IO. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly keys: KeyRing,
    private readonly tokens: ShortLivedTokens,
    private readonly failures: FailedAttempts = new FailedAttempts(0),
  ) {}

  /** False: no keys are asked for, and everybody is `ANYBODY`, whatever they present. */
  get enabled(): boolean {
    return this.keys.enabled;
  }

  /** @throws DomainError `invalid_api_key` */
  authenticate(token: string | undefined): Principal {
    if (!this.enabled) return this.#ownProcess(token) ?? ANYBODY;
    if (token === undefined) throw refusal('No API key was given; send `Authorization: Bearer KEY`.');
    const principal = this.keys.find(token) ?? this.#shortLived(token);
    if (!principal) throw refusal('The API key is not valid: unknown, withdrawn or expired.');
    return principal;
  }

  /** A request over HTTP. @param token from its headers @throws DomainError as `#signIn` */
  authenticateRequest(token: string | undefined, { headers, address }: Caller): Principal {
    return this.#signIn(token, address, headers.authorization !== undefined);
  }

  /** A WebSocket's opening request: header, or OpenAI's subprotocol. @throws DomainError as `#signIn` */
  authenticateUpgrade({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Principal {
    return this.#signIn(bearerToken(headers) ?? subprotocolToken(headers), socket.remoteAddress);
  }

  /** A Socket.IO handshake: `auth.token`, or the header. @throws DomainError as `#signIn` */
  authenticateHandshake({ auth, headers, address }: Caller & { readonly auth: unknown }): Principal {
    return this.#signIn(handshakeToken(auth, headers), address);
  }

  /**
   * Failures count by address, where something was tried.
   * @throws DomainError `invalid_api_key`, `rate_limit_exceeded` after too many
   */
  #signIn(token: string | undefined, address = '', tried = token !== undefined): Principal {
    try {
      return this.authenticate(token);
    } catch (error) {
      throw tried ? this.failures.answerTo(error, address) : error;
    }
  }

  /** False once its key was withdrawn. For connections that outlive many requests. */
  isCurrent({ keyId }: Principal): boolean {
    return !this.enabled || keyId === INTERNAL_KEY_ID || (keyId !== undefined && this.keys.has(keyId));
  }

  /** A token that ends by itself, and with the key it came from. */
  mint(principal: Principal, grant: Omit<TokenGrant, 'principal'>): ShortLivedToken {
    return this.tokens.mint({ principal, ...grant });
  }

  /** What such a token carries; undefined: nothing, or it is no such token. */
  contentOf(token: string): string | undefined {
    return this.tokens.contentOf(token);
  }

  /** Where no keys are asked for, our own processes still say who they are: nothing of theirs is counted twice. */
  #ownProcess(token: string | undefined): Principal | undefined {
    const principal = token === undefined ? undefined : this.tokens.verify(token);
    return principal?.keyId === INTERNAL_KEY_ID ? { ...ANYBODY, keyId: INTERNAL_KEY_ID } : undefined;
  }

  #shortLived(token: string): Principal | undefined {
    const principal = this.tokens.verify(token);
    return principal && this.isCurrent(principal) ? principal : undefined;
  }
}

const refusal = (message: string): DomainError => new DomainError('invalid_api_key', message);
