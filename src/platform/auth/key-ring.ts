import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { merge, type Observable, Subject } from 'rxjs';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Limits } from '../../core/limits/limit-rules.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { requiresKeys, Settings } from '../config/settings.js';
import { type HeldKey, HeldKeys } from './held-keys.js';
import { keyDigest } from './key-secret.js';
import { type ApiKeyEntry, readKeysFile, SETTING_KEY_ID } from './keys-file.js';
import { KEY_SCOPES, type Principal } from './principal.js';
import { StoredKeys } from './stored-keys.js';

const isExpired = ({ expiresAtMs = Infinity }: HeldKey): boolean => Date.now() >= expiresAtMs;

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
