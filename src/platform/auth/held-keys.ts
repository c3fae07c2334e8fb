import { timingSafeEqual } from 'node:crypto';
import { type StoredKey } from '../../core/access/stored-key.js';
import { LIMIT_NAMES, type Limits } from '../../core/limits/limit-rules.js';
import { MAX_TENANT_WEIGHT } from '../../core/queue/request-place.js';
import { snakeCase } from '../config/model-spec.js';
import { type ApiKeyEntry } from './api-key.js';
import { KEY_SCOPES, type KeyScope, type Principal } from './principal.js';

/** A secret by its digest, and what it lets its holder do. */
export interface HeldKey {
  /** 64 hexadecimal digits in lower case. */
  readonly sha256: string;
  readonly principal: Principal & { readonly keyId: string };
  /** Unix milliseconds; absent: it does not expire. */
  readonly expiresAtMs: number | undefined;
  /** Set for this key alone, in place of `limits.*`; absent: nothing is. */
  readonly limits: Partial<Limits> | undefined;
  /** 1 to 1000. */
  readonly weight: number;
}

/** A key of the file, of the setting or of the database. */
type WrittenKey = ApiKeyEntry | StoredKey;

/** The key's present secret, then the one before it. */
function secretsOf(key: Partial<StoredKey> & WrittenKey): HeldKey[] {
  const { id, limits = {}, sha256, replaced, expiresAtMs, models, defaultPriority } = key;
  const own = LIMIT_NAMES.flatMap(name => {
    const value = limits[snakeCase(name)];
    return value === undefined ? [] : [[name, value]];
  });
  const maxDeadlineMs = limits.max_deadline_ms;
  const held = {
    sha256,
    principal: {
      keyId: id,
      tenant: key.tenant,
      scopes: new Set(key.scopes.filter(isScope)),
      terms: { key: id, maxDeadlineMs, models, defaultPriority },
    },
    expiresAtMs,
    limits: own.length > 0 ? (Object.fromEntries(own) as Partial<Limits>) : undefined,
    weight: Math.min(MAX_TENANT_WEIGHT, limits.weight ?? 1),
  };
  if (!replaced) return [held];
  const untilMs = Math.min(replaced.untilMs, expiresAtMs ?? Infinity);
  return [held, { ...held, sha256: replaced.sha256, expiresAtMs: untilMs }];
}

const isScope = (scope: string): scope is KeyScope =>
  (KEY_SCOPES as readonly string[]).includes(scope);

/**
 * Keys in memory, by digest and by id. Several secrets may belong to one id; the first
 * says when it expires.
 */
export class HeldKeys {
  readonly #byDigest: ReadonlyMap<string, HeldKey & { readonly digest: Buffer }>;
  readonly #byId = new Map<string, HeldKey>();
  readonly #weights = new Map<string, number>();

  constructor(keys: readonly WrittenKey[] = []) {
    const secrets = keys.flatMap(secretsOf);
    this.#byDigest = new Map(
      secrets.map(key => [
        key.sha256,
        { ...key, digest: Buffer.from(key.sha256, 'hex') },
      ]),
    );
    for (const key of secrets)
      if (!this.#byId.has(key.principal.keyId)) this.#byId.set(key.principal.keyId, key);
    for (const { principal, weight } of secrets)
      this.#weights.set(
        principal.tenant,
        Math.max(weight, this.weightOf(principal.tenant)),
      );
  }

  get size(): number {
    return this.#byId.size;
  }

  /**
   * The digest of what was presented is looked up, so its duration depends on digests and
   * not on keys; the last comparison takes the same time for every key.
   */
  find(digest: string): HeldKey | undefined {
    const key = this.#byDigest.get(digest);
    return key && timingSafeEqual(key.digest, Buffer.from(digest, 'hex'))
      ? key
      : undefined;
  }

  /** The largest weight of the tenant's keys; 1 without any. */
  weightOf(tenant: string): number {
    return this.#weights.get(tenant) ?? 1;
  }

  get(id: string): HeldKey | undefined {
    return this.#byId.get(id);
  }

  /** True when a key expired after `fromMs` and not after `toMs`. */
  expiredBetween(fromMs: number, toMs: number): boolean {
    return [...this.#byId.values()].some(
      ({ expiresAtMs = Infinity }) => expiresAtMs > fromMs && expiresAtMs <= toMs,
    );
  }
}

export const isExpired = (
  { expiresAtMs }: Pick<HeldKey, 'expiresAtMs'>,
  nowMs: number,
): boolean => expiresAtMs !== undefined && nowMs >= expiresAtMs;
