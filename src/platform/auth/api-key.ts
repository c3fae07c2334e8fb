import { createHash, randomBytes } from 'node:crypto';
import { mapOf, oneOf, wholeNumberFrom } from '../../contracts/schema/rules.js';
import { LIMIT_NAMES } from '../../core/limits/limit-rules.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { snakeCase } from '../config/model-spec.js';
import { KEY_SCOPES, type KeyScope } from './principal.js';

/** As the keys file and the command spell them: `requests_per_minute`. */
export const KEY_LIMITS: readonly string[] = LIMIT_NAMES.map(name => snakeCase(name));

/**
 * What `limits` of a key may hold, besides the weight of its tenant in the queues (D-25)
 * and its longest deadline (D-26).
 */
export const KEY_LIMIT_NAMES: readonly string[] = [
  ...KEY_LIMITS,
  'weight',
  'max_deadline_ms',
];

/** `limits` of one key, 1 or more each; absent: what `limits.*` says. */
export type KeyLimits = Readonly<Record<string, number>>;

export const LIMITS_RULE = mapOf(
  wholeNumberFrom(1, 1e9),
  `pairs out of ${KEY_LIMIT_NAMES.join(', ')} and whole numbers from 1 to 1e9; leave out what is not limited`,
  oneOf(KEY_LIMIT_NAMES),
);

/** `requests_per_minute=60`, from a command line. Undefined: not of that form. */
export function keyLimit(text: string): KeyLimits | undefined {
  const [name = '', digits = ''] = text.split('=', 2);
  const limits = { [name]: Number(digits) };
  return /^\d+$/.test(digits) && LIMITS_RULE.safeParse(limits).success
    ? limits
    : undefined;
}

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
 * A key is 256 random bits, so its plain SHA-256 cannot be turned back. A slow hash
 * protects guessable secrets only, and would cost every request tens of milliseconds.
 */
export function createApiKey({ tenant, scopes, limits }: KeyOwner): NewApiKey {
  const key = PREFIX + randomBytes(32).toString('base64url');
  const id = `key_${randomBytes(6).toString('hex')}`;
  return {
    key,
    entry: { id, tenant, scopes, sha256: keyDigest(key), limits },
  };
}

export const keyDigest = (key: string): string =>
  createHash('sha256').update(key, 'utf8').digest('hex');

/** Id of the key of the setting `auth.key`. */
export const SETTING_KEY_ID = 'auth.key';

export const settingKey = (key: string): ApiKeyEntry => ({
  id: SETTING_KEY_ID,
  tenant: DEFAULT_TENANT,
  scopes: KEY_SCOPES,
  sha256: keyDigest(key),
});
