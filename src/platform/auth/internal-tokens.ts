import { type KeyTerms } from '../../core/access/key-terms.js';
import { RecentMap } from '../../core/request/recent-map.js';
import { ConfigError, readNamedFile } from '../config/yaml-file.js';
import { type Principal } from './principal.js';
import { ShortLivedTokens } from './short-lived-tokens.js';

/** Injection token of the secret (`Buffer`) that this process signs tokens with. */
export const TOKEN_SECRET = Symbol('TOKEN_SECRET');

const MIN_SECRET_BYTES = 32;

/** Undefined: no file is named. @throws ConfigError */
export function tokenSecret(path: string): Buffer | undefined {
  if (path === '') return undefined;
  const secret = readNamedFile(path, 'auth.token_secret_file');
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
export class InternalTokens {
  readonly #made = new RecentMap<{ readonly token: string; readonly renewAtMs: number }>(
    MAX_TOKENS,
  );

  constructor(
    private readonly tokens: ShortLivedTokens,
    private readonly nowMs: () => number = () => Date.now(),
  ) {}

  tokenFor(tenant: string, terms?: KeyTerms): string {
    const name = JSON.stringify([tenant, terms]);
    const known = this.#made.get(name);
    if (known && this.nowMs() < known.renewAtMs) return known.token;
    const scopes = ['inference'] as const;
    const principal: Principal = {
      tenant,
      keyId: INTERNAL_KEY_ID,
      scopes: new Set(scopes),
      terms,
    };
    const { token } = this.tokens.mint({ principal, scopes, ttlS: LIFE_S });
    this.#made.add(name, { token, renewAtMs: this.nowMs() + LIFE_S * 1000 - RENEW_MS });
    return token;
  }
}

/**
 * @param handed secret from the gateway that started this process, base64. Undefined: no
 *   secret is known.
 */
export function internalTokens(
  { tokenSecretFile }: { readonly tokenSecretFile: string },
  handed: string | undefined,
): InternalTokens | undefined {
  const secret =
    handed === undefined ? tokenSecret(tokenSecretFile) : Buffer.from(handed, 'base64');
  return secret && new InternalTokens(new ShortLivedTokens(secret));
}
