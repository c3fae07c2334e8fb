import { createHash, randomBytes } from 'node:crypto';
import { type KeyLimits } from './key-limits.js';
import { type KeyScope } from './principal.js';

const PREFIX = 'sk-switchyard-';

/** One entry of `auth.keys_file`. */
export interface ApiKeyEntry {
  /** Names the key in logs and when it is withdrawn. */
  readonly id: string;
  readonly tenant: string;
  readonly scopes: readonly KeyScope[];
  /** SHA-256 of the key, 64 hexadecimal digits. */
  readonly sha256: string;
  /** Its own, in place of `limits.*`; the key is then counted apart from its tenant. */
  readonly limits?: KeyLimits;
}

/** What is decided when a key is made. */
export type KeyOwner = Pick<ApiKeyEntry, 'tenant' | 'scopes' | 'limits'>;

export interface NewApiKey {
  /** Shown once, stored nowhere. */
  readonly key: string;
  readonly entry: ApiKeyEntry;
}

/**
 * A key is 256 random bits, so its plain SHA-256 cannot be turned back. A slow hash protects guessable secrets only, and
 * would cost every request tens of milliseconds.
 */
export function createApiKey({ tenant, scopes, limits }: KeyOwner): NewApiKey {
  const key = PREFIX + randomBytes(32).toString('base64url');
  const id = `key_${randomBytes(6).toString('hex')}`;
  return { key, entry: { id, tenant, scopes, sha256: keyDigest(key), ...(limits && { limits }) } };
}

export const keyDigest = (key: string): string => createHash('sha256').update(key, 'utf8').digest('hex');
