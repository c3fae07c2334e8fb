import { MAX_TENANT_WEIGHT } from '@switchyard/worker-protocol/generation.codec.js';
import { type StoredKey } from '../../core/access/stored-key.js';
import { LIMIT_NAMES, type Limits } from '../../core/limits/limit-rules.js';
import { snakeCase } from '../config/model-spec.js';
import { type ApiKeyEntry } from './keys-file.js';
import { KEY_SCOPES, type KeyScope, type Principal } from './principal.js';

/** What a secret lets its holder do. */
export interface HeldKey {
  readonly principal: Principal & { readonly keyId: string };
  /** Unix milliseconds; absent: it does not expire. */
  readonly expiresAtMs: number | undefined;
  /** Set for this key alone, in place of `limits.*`; absent: nothing is. */
  readonly limits: Partial<Limits> | undefined;
  /** 1 to 1000. */
  readonly weight: number;
}

/**
 * The key's present secret, then the one before it, each by its digest: 64 hexadecimal
 * digits in lower case.
 */
function secretsOf(
  key: Partial<StoredKey> & (ApiKeyEntry | StoredKey),
): (readonly [sha256: string, key: HeldKey])[] {
  const { id, limits = {}, replaced, expiresAtMs, models, defaultPriority } = key;
  const own = LIMIT_NAMES.flatMap(name => {
    const value = limits[snakeCase(name)];
    return value === undefined ? [] : [[name, value]];
  });
  const held = {
    principal: {
      keyId: id,
      tenant: key.tenant,
      scopes: new Set(key.scopes.filter(isScope)),
      terms: { key: id, maxDeadlineMs: limits.max_deadline_ms, models, defaultPriority },
    },
    expiresAtMs,
    limits: own.length > 0 ? (Object.fromEntries(own) as Partial<Limits>) : undefined,
    weight: Math.min(MAX_TENANT_WEIGHT, limits.weight ?? 1),
  };
  const present = [key.sha256, held] as const;
  if (!replaced) return [present];
  const untilMs = Math.min(replaced.untilMs, expiresAtMs ?? Infinity);
  return [present, [replaced.sha256, { ...held, expiresAtMs: untilMs }]];
}

const isScope = (scope: string): scope is KeyScope =>
  (KEY_SCOPES as readonly string[]).includes(scope);

/**
 * Keys in memory, by digest and by id. Several secrets may belong to one id; the first
 * says when it expires.
 */
export class HeldKeys {
  readonly #byDigest: ReadonlyMap<string, HeldKey>;
  readonly #byId: ReadonlyMap<string, HeldKey>;
  /** By tenant, the largest weight of its keys. */
  readonly weights: ReadonlyMap<string, number>;

  constructor(keys: readonly (ApiKeyEntry | StoredKey)[] = []) {
    const secrets = keys.flatMap(secretsOf);
    this.#byDigest = new Map(secrets);
    const held = secrets.map(([, key]) => key);
    this.#byId = new Map(held.toReversed().map(key => [key.principal.keyId, key]));
    // Of a tenant's weights the largest comes last, and stays.
    const byWeight = held.toSorted((a, b) => a.weight - b.weight);
    this.weights = new Map(byWeight.map(key => [key.principal.tenant, key.weight]));
  }

  get size(): number {
    return this.#byId.size;
  }

  /**
   * By the digest of what was presented: the duration depends on digests, not on keys.
   */
  find(digest: string): HeldKey | undefined {
    return this.#byDigest.get(digest);
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
