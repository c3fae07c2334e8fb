import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { EMPTY, merge, type Observable, Subject } from 'rxjs';
import { type Limits } from '../../core/limits/limit-rules.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { readKeysFile, type ApiKeyEntry, keyDigest, settingKey } from './keys-file.js';
import { type StoredKeys, type HeldKey, HeldKeys, isExpired } from './stored-keys.js';
import { type Principal } from './principal.js';

/**
 * Polled, not subscribed to: mounted secrets are swapped by moving links, which
 * file events miss.
 */
const POLL_MS = 2000;

/** `ignored`: `auth.allow_anonymous` is set, so a key of the database has no effect. */
export const KEY_STATES = ['required', 'not_required', 'ignored'] as const;

/**
 * All keys, as they are now: those of `auth.keys_file`, read again when the file changes
 * and on SIGHUP, or the one of `auth.key`, and those of the database. A file that became
 * unreadable or wrong changes nothing and is logged; a server must not lock out all
 * clients over a typing error.
 */
export class KeyRing implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(KeyRing.name);
  readonly #changed = new Subject<void>();
  readonly #reload = () => this.reload();
  readonly #nowMs: () => number;
  #entries: readonly ApiKeyEntry[];
  #held: HeldKeys;

  /** After every change of keys. */
  readonly changed$: Observable<void>;

  /** @param path '' for no file. @throws ConfigError for a file that cannot be used */
  constructor(
    private readonly path: string,
    private readonly options: {
      /** Keys are asked for, also without a file. */
      readonly required?: boolean;
      /** `auth.key`; '' for none. */
      readonly key?: string;
      readonly stored?: StoredKeys;
      /** `auth.allow_anonymous`: the keys of the database have no effect. */
      readonly anonymous?: boolean;
      readonly nowMs?: () => number;
    } = {},
  ) {
    this.#nowMs = options.nowMs ?? Date.now;
    this.#entries = path === '' ? entriesOf(options.key) : readKeysFile(path);
    this.#held = new HeldKeys(this.#entries);
    this.changed$ = merge(this.#changed, options.stored?.changed$ ?? EMPTY);
  }

  /**
   * False: no keys are required, every client may do everything. The first key of the
   * database makes it true.
   */
  get enabled(): boolean {
    const { required, anonymous, stored } = this.options;
    if (this.path !== '' || this.#entries.length > 0 || required) return true;
    return !anonymous && (stored?.everMade ?? false);
  }

  get state(): (typeof KEY_STATES)[number] {
    if (this.enabled) return 'required';
    return this.options.anonymous ? 'ignored' : 'not_required';
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
    const key = this.options.stored?.held.find(digest);
    if (!key) return undefined;
    if (isExpired(key, this.#nowMs())) throw expired(key);
    this.options.stored?.markUsed(key.principal.keyId);
    return key.principal;
  }

  /** False once the key of that id was withdrawn or has expired. */
  has(keyId: string): boolean {
    const key = this.#get(keyId);
    return key !== undefined && !isExpired(key, this.#nowMs());
  }

  /** What was set for this key alone, in place of `limits.*`. */
  limitsOf(keyId: string): Partial<Limits> | undefined {
    return this.#get(keyId)?.limits;
  }

  /** Weight of a tenant in the queues (D-25): the largest of its keys, 1 without any. */
  weightOf(tenant: string): number {
    return Math.max(
      1,
      this.#held.weights.get(tenant) ?? 1,
      this.options.stored?.held.weights.get(tenant) ?? 1,
    );
  }

  onModuleInit(): void {
    if (this.path === '') return;
    watchFile(this.path, { interval: POLL_MS, persistent: false }, this.#onStat);
    process.on('SIGHUP', this.#reload);
  }

  onApplicationShutdown(): void {
    unwatchFile(this.path, this.#onStat);
    process.off('SIGHUP', this.#reload);
    this.#changed.complete();
  }

  reload(): void {
    try {
      this.#entries = readKeysFile(this.path);
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
    return this.#held.get(keyId) ?? this.options.stored?.held.get(keyId);
  }

  readonly #onStat = (now: Stats, before: Stats) => {
    if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino) this.reload();
  };
}

const entriesOf = (key = ''): readonly ApiKeyEntry[] =>
  key === '' ? [] : [settingKey(key)];

function expired({ principal, expiresAtMs = 0 }: HeldKey): DomainError {
  const at = new Date(expiresAtMs).toISOString().slice(0, 19);
  return new DomainError(
    'invalid_api_key',
    `The API key ${principal.keyId} expired at ${at}Z.`,
  );
}
