import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type KeyTerms } from '../../core/access/key-terms.js';
import { type Principal, type Scope } from './principal.js';

/** What every such token begins with, and no API key does. */
export const TOKEN_PREFIX = 'ek_';

interface Claims {
  readonly tenant: string;
  readonly keyId?: string;
  readonly scopes: readonly Scope[];
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
  readonly content?: string;
  readonly terms?: KeyTerms;
  /** No two tokens are equal, so that ending one session ends no other. */
  readonly nonce: string;
}

export interface ShortLivedToken {
  readonly token: string;
  /** Unix seconds, as OpenAI's `expires_at`. */
  readonly expiresAt: number;
}

export interface TokenGrant {
  readonly principal: Principal;
  /** What the token may do; more than its principal may do is not granted. */
  readonly scopes: readonly Scope[];
  readonly ttlS: number;
  /** Comes back with the token; signed, not secret. */
  readonly content?: string;
}

/**
 * Tokens that a server hands to a browser instead of its key (`client_secrets`): signed,
 * not stored, so any replica with the same secret accepts them.
 */
export class ShortLivedTokens {
  /**
   * @param secret the same on all replicas; absent: random, so tokens end
   *   with the process.
   */
  constructor(
    private readonly secret: Buffer = randomBytes(32),
    private readonly nowMs: () => number = () => Date.now(),
  ) {}

  mint({ principal, scopes, ttlS, content }: TokenGrant): ShortLivedToken {
    const { tenant, keyId, terms, expiresAtMs = Infinity } = principal;
    const expiresAt = Math.floor(
      Math.min(this.nowMs() + ttlS * 1000, expiresAtMs) / 1000,
    );
    const granted = scopes.filter(
      scope => principal.scopes.has(scope) || coveredByInference(principal, scope),
    );
    const nonce = randomBytes(9).toString('base64url');
    const claims: Claims = {
      tenant,
      keyId,
      scopes: granted,
      expiresAtMs: expiresAt * 1000,
      content,
      terms,
      nonce,
    };
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
    return {
      token: `${TOKEN_PREFIX}${body}.${this.#sign(body)}`,
      expiresAt,
    };
  }

  /** Undefined: not one of ours, changed on the way, or expired. */
  verify(token: string): Principal | undefined {
    const claims = this.#claimsOf(token);
    if (!claims) return undefined;
    const { tenant, keyId, scopes, terms } = claims;
    return { tenant, keyId, scopes: new Set(scopes), terms };
  }

  /** Unix milliseconds. Undefined: as of `verify`. */
  expiryOf(token: string): number | undefined {
    return this.#claimsOf(token)?.expiresAtMs;
  }

  /**
   * What `mint` was given to carry. Undefined: nothing, or the token is not
   * to be trusted.
   */
  contentOf(token: string): string | undefined {
    return this.#claimsOf(token)?.content;
  }

  #claimsOf(token: string): Claims | undefined {
    const [body = '', signature = '', ...rest] = token.startsWith(TOKEN_PREFIX)
      ? token.slice(TOKEN_PREFIX.length).split('.')
      : [];
    if (body === '' || rest.length > 0) return undefined;
    // As texts: other texts stand for the same bytes, and a session is ended by its text.
    const given = Buffer.from(signature);
    const expected = Buffer.from(this.#sign(body));
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return undefined;
    // Signed by us: it is what `mint` wrote.
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims;
    return this.nowMs() < claims.expiresAtMs ? claims : undefined;
  }

  #sign(body: string): string {
    return createHmac('sha256', this.secret).update(body).digest('base64url');
  }
}

const coveredByInference = ({ scopes }: Principal, scope: Scope): boolean =>
  scope === 'realtime' && scopes.has('inference');
