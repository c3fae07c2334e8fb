import { type Stats, unwatchFile, watchFile } from 'node:fs';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { MAX_TENANT_WEIGHT } from '@switchyard/worker-protocol/generation.codec.js';
import { merge, type Observable, Subject } from 'rxjs';
import { type StoredKey } from '../../core/access/stored-key.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { LIMIT_NAMES, type Limits } from '../../core/limits/limit-rules.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { snakeCase } from '../config/model-spec.js';
import { requiresKeys, Settings } from '../config/settings.js';
import { KeyStore } from '../database/key-store.js';
import { type ApiKeyEntry, keyDigest, readKeysFile, SETTING_KEY_ID } from './keys-file.js';
import { KEY_SCOPES, type KeyScope, type Principal } from './principal.js';

/** What a secret lets its holder do. */
interface HeldKey {
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
class HeldKeys {
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

const isExpired = ({ expiresAtMs = Infinity }: HeldKey): boolean => Date.now() >= expiresAtMs;

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
        this.#logger.warn({ reason: (error as Error).message }, 'API keys stay as they were');
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

/**
 * Polled, not subscribed to: mounted secrets are swapped by moving links, which
 * file events miss.
 */
const FILE_POLL_MS = 2000;

/** `ignored`: `auth.allow_anonymous` is set, so a key of the database has no effect. */
export const KEY_STATES = ['required', 'not_required', 'ignored'] as const;

/**
 * All keys, as they are now: those of `auth.keys_file`, read again when the file changes
 * and on SIGHUP, or the one of `auth.key`, and those of the database. A file that became
 * unreadable or wrong changes nothing and is logged; a server must not lock out all
 * clients over a typing error.
 */
@Injectable()
export class KeyRing implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(KeyRing.name);
  readonly #changed = new Subject<void>();
  readonly #reload = () => this.reload();
  readonly #path: string;
  readonly #isRequired: boolean;
  #entries: readonly ApiKeyEntry[];
  #held: HeldKeys;

  /** After every change of keys. */
  readonly changed$: Observable<void>;

  /** @throws ConfigError for a file that cannot be used */
  constructor(
    private readonly settings: Settings,
    private readonly stored: StoredKeys,
  ) {
    const { keysFile, key } = settings.auth;
    this.#path = keysFile;
    this.#isRequired = requiresKeys(settings);
    this.#entries = keysFile === '' ? entriesOf(key) : readKeysFile(keysFile);
    this.#held = new HeldKeys(this.#entries);
    this.changed$ = merge(this.#changed, stored.changed$);
  }

  /**
   * False: no keys are required, every client may do everything. The first key of the
   * database makes it true, unless `auth.allow_anonymous` gives its keys no effect.
   */
  get enabled(): boolean {
    if (this.#isRequired) return true;
    return !this.settings.auth.allowAnonymous && this.stored.everMade;
  }

  get state(): (typeof KEY_STATES)[number] {
    if (this.enabled) return 'required';
    return this.settings.auth.allowAnonymous ? 'ignored' : 'not_required';
  }

  /** The keys of the file or the setting, which are changed there only. */
  get fixedKeys(): readonly ApiKeyEntry[] {
    return this.#entries;
  }

  /** @throws DomainError `invalid_api_key` for a key that expired */
  find(token: string): Principal | undefined {
    const digest = keyDigest(token);
    const inFile = this.#held.find(digest);
    if (inFile) return inFile.principal;
    const key = this.stored.held.find(digest);
    if (!key) return undefined;
    if (isExpired(key)) throw expired(key);
    this.stored.markUsed(key.principal.keyId);
    return key.principal;
  }

  /** False once the key of that id was withdrawn or has expired. */
  has(keyId: string): boolean {
    const key = this.#get(keyId);
    return key !== undefined && !isExpired(key);
  }

  /** What was set for this key alone, in place of `limits.*`. */
  limitsOf(keyId: string): Partial<Limits> | undefined {
    return this.#get(keyId)?.limits;
  }

  /** Weight of a tenant in the queues (D-25): the largest of its keys, 1 without any. */
  weightOf(tenant: string): number {
    const weights = [this.#held, this.stored.held].map(held => held.weights.get(tenant) ?? 1);
    return Math.max(...weights);
  }

  onModuleInit(): void {
    // Also without a file: the signal would end the process.
    process.on('SIGHUP', this.#reload);
    if (this.#path !== '')
      watchFile(this.#path, { interval: FILE_POLL_MS, persistent: false }, this.#onStat);
  }

  onApplicationShutdown(): void {
    if (this.#path !== '') unwatchFile(this.#path, this.#onStat);
    process.off('SIGHUP', this.#reload);
    this.#changed.complete();
  }

  reload(): void {
    if (this.#path === '') return;
    try {
      this.#entries = readKeysFile(this.#path);
      this.#held = new HeldKeys(this.#entries);
      this.#logger.log({ keys: this.#held.size }, 'keys read again');
      this.#changed.next();
    } catch (error) {
      this.#logger.error(
        { reason: (error as Error).message },
        'the keys file cannot be used; the old keys stay',
      );
    }
  }

  #get(keyId: string) {
    return this.#held.get(keyId) ?? this.stored.held.get(keyId);
  }

  readonly #onStat = (now: Stats, before: Stats) => {
    if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino) this.reload();
  };
}

function entriesOf(key: string): readonly ApiKeyEntry[] {
  if (key === '') return [];
  const owner = { id: SETTING_KEY_ID, tenant: DEFAULT_TENANT, scopes: KEY_SCOPES };
  return [{ ...owner, sha256: keyDigest(key) }];
}

function expired({ principal, expiresAtMs = 0 }: HeldKey): DomainError {
  const at = new Date(expiresAtMs).toISOString().slice(0, 19);
  return new DomainError('invalid_api_key', `The API key ${principal.keyId} expired at ${at}Z.`);
}
