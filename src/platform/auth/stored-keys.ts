import { timingSafeEqual } from 'node:crypto';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { type StoredKey } from '../../core/access/stored-key.js';
import { LIMIT_NAMES, type Limits } from '../../core/limits/limit-rules.js';
import { MAX_TENANT_WEIGHT } from '../../core/order/account.js';
import { snakeCase } from '../config/model-spec.js';
import { KeyStore } from '../database/key-store.js';
import { keyDigest, type ApiKeyEntry } from './keys-file.js';
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

/** The key's present secret, then the one before it. */
function secretsOf(key: Partial<StoredKey> & (ApiKeyEntry | StoredKey)): HeldKey[] {
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
  /** By tenant, the largest weight of its keys. */
  readonly weights: ReadonlyMap<string, number>;

  constructor(keys: readonly (ApiKeyEntry | StoredKey)[] = []) {
    const secrets = keys.flatMap(secretsOf);
    this.#byDigest = new Map(
      secrets.map(key => [
        key.sha256,
        { ...key, digest: Buffer.from(key.sha256, 'hex') },
      ]),
    );
    for (const key of secrets)
      if (!this.#byId.has(key.principal.keyId)) this.#byId.set(key.principal.keyId, key);
    const weights = new Map<string, number>();
    for (const { principal, weight } of secrets)
      weights.set(principal.tenant, Math.max(weight, weights.get(principal.tenant) ?? 1));
    this.weights = weights;
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

/** One small query; a change by another gateway is known after this time. */
const POLL_MS = 2000;
/** `last_used_at` is written at most this often. */
const USED_MS = 60_000;
/**
 * By how much the clocks of gateways may differ: sessions that ended this long before the
 * last are read again.
 */
const CLOCK_SKEW_MS = 600_000;

/**
 * The live keys of the database, in memory: read again when their version changes; and
 * the console's sessions that were signed out. While the database is away, both stay
 * as they were.
 */
@Injectable()
export class StoredKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(StoredKeys.name);
  readonly #changed = new Subject<void>();
  held = new HeldKeys();
  /** Also true when all were revoked: keys stay required then. */
  everMade = false;
  /** By digest, until they would have expired. */
  readonly #ended = new Map<string, number>();
  #endedAtMs = 0;
  #version = -1;
  #checkedAtMs = Date.now();
  #usedAtMs = Date.now();
  #used = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  #isAway = false;

  /** After every reading that found a change, and when a key expired. */
  readonly changed$: Observable<void> = this.#changed.asObservable();

  constructor(private readonly store: KeyStore) {}

  /** The schema is up to date by now; no request has come yet. */
  async onApplicationBootstrap(): Promise<void> {
    await this.refresh();
    this.#timer = setInterval(() => void this.#poll(), POLL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    this.#changed.complete();
    await this.saveUsed().catch(() => undefined);
  }

  isEnded(token: string): boolean {
    return this.#ended.size > 0 && this.#ended.has(keyDigest(token));
  }

  async endSession(sha256: string, expiresAtMs: number): Promise<void> {
    this.#ended.set(sha256, expiresAtMs);
    await this.store.endSession({ sha256, endedAtMs: Date.now(), expiresAtMs });
  }

  markUsed(id: string): void {
    this.#used.add(id);
  }

  /**
   * Resolves when changes made before are in effect here. @throws what the store throws
   */
  async refresh(): Promise<void> {
    // A reading that is under way may have begun before the change.
    await this.#refreshing?.catch(() => undefined);
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  async #refresh() {
    await this.#readEnded();
    const version = await this.store.version();
    if (version === this.#version) return;
    // Read after the version: newer than it at worst, and then the next version differs.
    this.held = new HeldKeys(await this.store.live());
    this.#version = version;
    this.everMade = version > 0;
    this.#changed.next();
  }

  async #readEnded() {
    for (const { sha256, endedAtMs, expiresAtMs } of await this.store.endedSessions(
      this.#endedAtMs - CLOCK_SKEW_MS,
    )) {
      this.#ended.set(sha256, expiresAtMs);
      this.#endedAtMs = Math.max(this.#endedAtMs, endedAtMs);
    }
    const nowMs = Date.now();
    for (const [sha256, expiresAtMs] of this.#ended)
      if (expiresAtMs <= nowMs) this.#ended.delete(sha256);
  }

  async #poll() {
    const nowMs = Date.now();
    if (this.held.expiredBetween(this.#checkedAtMs, nowMs)) this.#changed.next();
    this.#checkedAtMs = nowMs;
    try {
      await this.refresh();
      if (nowMs - this.#usedAtMs >= USED_MS) await this.saveUsed(nowMs);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway)
        this.#logger.warn(
          { reason: (error as Error).message },
          'API keys stay as they were',
        );
      this.#isAway = true;
    }
  }

  /** Writes when keys were last used. */
  async saveUsed(nowMs = Date.now()): Promise<void> {
    this.#usedAtMs = nowMs;
    const used = [...this.#used];
    this.#used = new Set();
    await this.store.markUsed(used, nowMs);
  }
}
