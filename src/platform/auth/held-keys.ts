import { timingSafeEqual } from 'node:crypto';
import { type HeldTerms } from './api-key.js';
import { type Principal } from './principal.js';

/** A secret by its digest, and what it lets its holder do. */
export interface HeldKey extends HeldTerms {
  /** 64 hexadecimal digits in lower case. */
  readonly sha256: string;
  readonly principal: Principal & { readonly keyId: string };
  /** Unix milliseconds; absent: it does not expire. */
  readonly expiresAtMs?: number;
}

/**
 * Keys in memory, by digest and by id. Several secrets may belong to one id; the first
 * says when it expires.
 */
export class HeldKeys {
  readonly #byDigest: ReadonlyMap<string, HeldKey & { readonly digest: Buffer }>;
  readonly #byId = new Map<string, HeldKey>();
  readonly #weights = new Map<string, number>();

  constructor(keys: readonly HeldKey[] = []) {
    this.#byDigest = new Map(
      keys.map(key => [key.sha256, { ...key, digest: Buffer.from(key.sha256, 'hex') }]),
    );
    for (const key of keys)
      if (!this.#byId.has(key.principal.keyId)) this.#byId.set(key.principal.keyId, key);
    for (const { principal, weight = 1 } of keys)
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
