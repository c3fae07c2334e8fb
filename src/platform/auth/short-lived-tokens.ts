import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type KeyTerms } from '../../core/access/key-terms.js';
import { RecentMap } from '../../core/request/recent-map.js';
import { ConfigError, readNamedFile } from '../config/yaml-file.js';
import { permits, type Principal, type Scope } from './principal.js';

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

/**
 * Tokens that a server hands to a browser instead of its key (`client_secrets`): signed,
 * not stored, so any replica with the same secret accepts them.
 */
export class ShortLivedTokens {
  /**
   * @param secret the same on all replicas
   * @param previous accepted besides, while replicas and processors change to `secret`
   */
  constructor(
    private readonly secret: Buffer,
    private readonly previous?: Buffer,
  ) {}

  /**
   * A token that ends by itself, and with the key it came from.
   * @returns its end in Unix seconds, as OpenAI's `expires_at`
   */
  mint({
    principal,
    scopes,
    ttlS,
    content,
  }: {
    readonly principal: Principal;
    /** What the token may do; more than its principal may do is not granted. */
    readonly scopes: readonly Scope[];
    readonly ttlS: number;
    /** Comes back with the token; signed, not secret. */
    readonly content?: string;
  }): { readonly token: string; readonly expiresAt: number } {
    const { tenant, keyId, terms, expiresAtMs = Infinity } = principal;
    const expiresAt = Math.floor(Math.min(Date.now() + ttlS * 1000, expiresAtMs) / 1000);
    const granted = scopes.filter(scope => permits(principal, scope));
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
    const body = Buffer.from(writeJson(claims)).toString('base64url');
    return {
      token: `${TOKEN_PREFIX}${body}.${sign(body, this.secret)}`,
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
    const isSignedWith = (secret: Buffer): boolean => {
      const expected = Buffer.from(sign(body, secret));
      return given.length === expected.length && timingSafeEqual(given, expected);
    };
    const { secret, previous } = this;
    if (!isSignedWith(secret) && !(previous && isSignedWith(previous))) return undefined;
    // Signed by us: it is what `mint` wrote.
    const claims = parseBoundedJson(Buffer.from(body, 'base64url').toString()) as Claims;
    return Date.now() < claims.expiresAtMs ? claims : undefined;
  }
}

const sign = (body: string, secret: Buffer): string =>
  createHmac('sha256', secret).update(body).digest('base64url');

const NAME = 'switchyard_session';
const SESSION = new RegExp(`(?:^|; *)${NAME}=([^;]*)`);

/** How long a sign-in at the console lasts; a withdrawn key ends it at once. */
export const SESSION_LIFE_S = 12 * 3600;

/**
 * The session of the console: a short-lived token, signed and never a key, so guessing
 * keys by cookie is not counted and not possible.
 */
export function sessionToken({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  const value = SESSION.exec(cookie)?.[1];
  return value?.startsWith(TOKEN_PREFIX) ? value : undefined;
}

/**
 * `Set-Cookie` that signs in. Scripts never see it and no other site's
 * request carries it.
 * @param token empty: sign out
 */
export function sessionCookie(token: string, secure: boolean): string {
  const lifeS = token === '' ? 0 : SESSION_LIFE_S;
  return `${NAME}=${token}; Path=/; Max-Age=${lifeS}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

/** Injection token of the secret (`Buffer`) that this process signs tokens with. */
export const TOKEN_SECRET = Symbol('TOKEN_SECRET');

const MIN_SECRET_BYTES = 32;

/**
 * @param path of a file; empty: undefined
 * @param handed by the gateway that started this process, base64; it comes before the file
 * @throws ConfigError
 */
export function tokenSecret(
  path: string,
  handed?: string,
  setting = 'auth.token_secret_file',
): Buffer | undefined {
  if (handed !== undefined) return Buffer.from(handed, 'base64');
  if (path === '') return undefined;
  const secret = readNamedFile(path, setting);
  if (secret.length >= MIN_SECRET_BYTES) return secret;
  throw new ConfigError([
    { origin: path, message: `must hold at least ${MIN_SECRET_BYTES} bytes of secret` },
  ]);
}

/** Key id of our own processes; no key of a keys file can have it, for the colon. */
export const INTERNAL_KEY_ID = 'internal:batch';

const LIFE_S = 3600;
/**
 * A token with less life than this is replaced: lines wait in the gateway's queue before
 * they are done, not before they are let in.
 */
const RENEW_MS = 600_000;

/** Of batches that run at the same time; those of others are made again. */
const MAX_TOKENS = 1000;

/**
 * Tokens that a batch processor shows its gateway on behalf of a tenant: inference and
 * nothing else, for an hour, on the terms of the key that made the batch.
 */
export function internalTokens(
  tokens: ShortLivedTokens,
): (tenant: string, terms?: KeyTerms) => string {
  const made = new RecentMap<{ readonly token: string; readonly renewAtMs: number }>(MAX_TOKENS);
  const scopes = ['inference'] as const;
  return (tenant, terms) => {
    const name = writeJson([tenant, terms]);
    const known = made.get(name);
    if (known && Date.now() < known.renewAtMs) return known.token;
    const principal = { tenant, keyId: INTERNAL_KEY_ID, scopes: new Set(scopes), terms };
    const { token } = tokens.mint({ principal, scopes, ttlS: LIFE_S });
    made.add(name, { token, renewAtMs: Date.now() + LIFE_S * 1000 - RENEW_MS });
    return token;
  };
}
