import { createHash, randomBytes } from 'node:crypto';
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
}

export interface NewApiKey {
  /** Shown once, stored nowhere. */
  readonly key: string;
  readonly entry: ApiKeyEntry;
}

/**
 * A key is 256 random bits, so its plain SHA-256 cannot be turned back. A slow hash protects guessable secrets only, and
 * would cost every request tens of milliseconds.
 */
export function createApiKey(owner: Pick<ApiKeyEntry, 'tenant' | 'scopes'>): NewApiKey {
  const key = PREFIX + randomBytes(32).toString('base64url');
  const { tenant, scopes } = owner;
  return { key, entry: { id: `key_${randomBytes(6).toString('hex')}`, tenant, scopes, sha256: keyDigest(key) } };
}

export const keyDigest = (key: string): string => createHash('sha256').update(key, 'utf8').digest('hex');
