import { type IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/shared/domain-error.js';
import { bearerToken, handshakeToken, subprotocolToken } from './credentials.js';
import { INTERNAL_KEY_ID } from './internal-tokens.js';
import { KeyRing } from './key-ring.js';
import { ANYBODY, type Principal } from './principal.js';
import { type ShortLivedToken, ShortLivedTokens, type TokenGrant } from './short-lived-tokens.js';

/** Who is calling? The same answer for HTTP, WebSockets and Socket.IO. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly keys: KeyRing,
    private readonly tokens: ShortLivedTokens,
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

  /** A WebSocket's opening request: header, or OpenAI's subprotocol. @throws DomainError `invalid_api_key` */
  authenticateUpgrade({ headers }: Pick<IncomingMessage, 'headers'>): Principal {
    return this.authenticate(bearerToken(headers) ?? subprotocolToken(headers));
  }

  /** A Socket.IO handshake: `auth.token`, or the header. @throws DomainError `invalid_api_key` */
  authenticateHandshake({ auth, headers }: { auth: unknown; headers: IncomingMessage['headers'] }): Principal {
    return this.authenticate(handshakeToken(auth, headers));
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
