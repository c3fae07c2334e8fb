import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'sk-switchyard-';

/**
 * A key is 256 random bits, so its plain SHA-256 cannot be turned back. A slow hash
 * protects guessable secrets only, and would cost every request tens of milliseconds.
 */
export function newSecret(): { readonly secret: string; readonly sha256: string } {
  const secret = PREFIX + randomBytes(32).toString('base64url');
  return { secret, sha256: keyDigest(secret) };
}

export const keyDigest = (key: string): string =>
  createHash('sha256').update(key, 'utf8').digest('hex');
