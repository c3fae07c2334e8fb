import { timingSafeEqual } from 'node:crypto';
import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { type Limits } from '../../core/limits/limit-rules.js';
import { type ApiKeyEntry, keyDigest, limitsFrom } from './api-key.js';
import { readKeysFile } from './keys-file.js';
import { type Principal } from './principal.js';

/** Polled, not subscribed to: mounted secrets are swapped by moving links, which file events miss. */
const POLL_MS = 2000;

interface HeldKey {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/**
 * The keys of `auth.keys_file`, as they are now: read again when the file changes and on SIGHUP. A file that became
 * unreadable or wrong changes nothing and is logged; a server must not lock everybody out over a typing error.
 */
export class KeyRing implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(KeyRing.name);
  readonly #changed = new Subject<void>();
  readonly #reload = () => this.reload();
  #byDigest: ReadonlyMap<string, HeldKey>;
  #ids: ReadonlySet<string>;
  #limits: ReadonlyMap<string, Partial<Limits>>;

  /** After every reload that succeeded. */
  readonly changed$: Observable<void> = this.#changed.asObservable();

  /** @param path '' when no keys are asked for. @throws ConfigError for a file that cannot be used */
  constructor(private readonly path: string) {
    [this.#byDigest, this.#ids, this.#limits] = held(path === '' ? [] : readKeysFile(path));
  }

  /** False: no keys are asked for, everybody may do everything. */
  get enabled(): boolean {
    return this.path !== '';
  }

  get size(): number {
    return this.#ids.size;
  }

  /**
   * The digest of what was presented is looked up, so its duration depends on digests and not on keys; the
   * last comparison takes the same time for every key.
   */
  find(token: string): Principal | undefined {
    const digest = keyDigest(token);
    const key = this.#byDigest.get(digest);
    return key && timingSafeEqual(key.digest, Buffer.from(digest, 'hex')) ? key.principal : undefined;
  }

  /** False once the key of that id was withdrawn. */
  has(keyId: string): boolean {
    return this.#ids.has(keyId);
  }

  /** What the file says of this key alone, in place of `limits.*`. */
  limitsOf(keyId: string): Partial<Limits> | undefined {
    return this.#limits.get(keyId);
  }

  onModuleInit(): void {
    if (!this.enabled) return;
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
      [this.#byDigest, this.#ids, this.#limits] = held(readKeysFile(this.path));
      this.#logger.log({ keys: this.size }, 'keys read again');
      this.#changed.next();
    } catch (error) {
      this.#logger.error({ reason: (error as Error).message }, 'the keys file cannot be used; the old keys stay');
    }
  }

  readonly #onStat = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino) this.reload();
  };
}

type Held = [ReadonlyMap<string, HeldKey>, ReadonlySet<string>, ReadonlyMap<string, Partial<Limits>>];

function held(entries: readonly ApiKeyEntry[]): Held {
  const keys = entries.map(({ id, tenant, scopes, sha256 }): [string, HeldKey] => [
    sha256,
    { digest: Buffer.from(sha256, 'hex'), principal: { keyId: id, tenant, scopes: new Set(scopes) } },
  ]);
  const limits = entries.flatMap(({ id, limits }): [string, Partial<Limits>][] =>
    limits ? [[id, limitsFrom(limits)]] : [],
  );
  return [new Map(keys), new Set(entries.map(({ id }) => id)), new Map(limits)];
}
