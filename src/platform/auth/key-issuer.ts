import { existsSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { type KeyChange, type StoredKey } from '../../core/access/stored-key.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { timeOrderedId } from '../clock/time-ordered-id.js';
import { type Settings } from '../config/settings.js';
import { ConfigError } from '../config/yaml-file.js';
import { KeyStore } from '../database/key-store.js';
import { KeyRing } from './key-ring.js';
import { newSecret } from './key-secret.js';
import { addApiKey } from './keys-file.js';
import { KEY_SCOPES } from './principal.js';
import { StoredKeys } from './stored-keys.js';

/** Every gateway holds all live keys in memory. */
const MAX_LIVE_KEYS = 10_000;
/** Of the secret, for display: its fixed start and 24 of 256 bits. */
const PREFIX_LENGTH = 18;

export interface IssuedKey {
  readonly key: StoredKey;
  /** Shown once, stored nowhere. */
  readonly secret: string;
  /** Keys are required from now on. */
  readonly first?: boolean;
}

/**
 * Makes, changes, rotates and revokes the keys of the database. A change is in effect on this
 * gateway when it resolves.
 */
@Injectable()
export class KeyIssuer {
  constructor(
    private readonly store: KeyStore,
    private readonly keys: StoredKeys,
    private readonly ring: KeyRing,
  ) {}

  /**
   * @throws DomainError `too_many_keys`, or `invalid_value` for a first key that would
   *   have no effect or lock out
   */
  async create(
    wanted: Omit<StoredKey, 'id' | 'sha256' | 'prefix' | 'createdAtMs'>,
    nowMs = Date.now(),
  ): Promise<IssuedKey> {
    const first = !this.ring.enabled;
    if (this.ring.state === 'ignored') throw new DomainError('invalid_value', NO_EFFECT);
    if (first && !wanted.scopes.includes('admin'))
      throw new DomainError('invalid_value', ADMIN_FIRST, { param: 'scopes' });
    if ((await this.store.countLive()) >= MAX_LIVE_KEYS)
      throw new DomainError(
        'too_many_keys',
        `There are ${MAX_LIVE_KEYS} keys; revoke those that are not used.`,
      );
    const { secret, sha256 } = newSecret();
    const key = {
      ...wanted,
      id: timeOrderedId('key_', nowMs),
      sha256,
      prefix: prefixOf(secret),
      createdAtMs: nowMs,
    };
    await this.store.create(key);
    await this.keys.refresh();
    return { key, secret, first };
  }

  /**
   * One that may do everything, unless there are keys. Gateways that start at the same
   * time may make one each.
   * @returns as `makeFirstKey`
   */
  async createFirst({ server }: Settings): Promise<string | undefined> {
    if ((await this.store.countLive()) > 0) return undefined;
    const owner = { name: 'first key', tenant: DEFAULT_TENANT, scopes: KEY_SCOPES };
    const { secret } = await this.create(owner);
    return announcement(server.host, secret, 'the database');
  }

  /**
   * @param graceMs how long the present secret stays valid; one that was replaced before
   *   ends at once
   * @throws DomainError `key_not_found`, `key_is_from_file`
   */
  async rotate(id: string, graceMs: number): Promise<IssuedKey> {
    const nowMs = Date.now();
    const before = await this.#active(id, nowMs);
    const { secret, sha256 } = newSecret();
    const prefix = prefixOf(secret);
    const replacedUntilMs = graceMs === 0 ? undefined : nowMs + graceMs;
    const rotated = await this.store.rotate(id, { sha256, prefix, replacedUntilMs });
    if (!rotated) throw notFound(id);
    await this.keys.refresh();
    return { key: { ...before, sha256, prefix }, secret };
  }

  /**
   * An expired key may get another expiry.
   * @throws DomainError `key_not_found`, `key_is_from_file`
   */
  async update(id: string, change: KeyChange): Promise<StoredKey> {
    await this.#stored(id);
    if (!(await this.store.update(id, change))) throw notFound(id, 'is revoked');
    await this.keys.refresh();
    return this.#stored(id);
  }

  /** @throws DomainError `key_not_found`, `key_is_from_file` */
  async revoke(id: string): Promise<StoredKey> {
    const key = await this.#stored(id);
    const nowMs = Date.now();
    await this.store.revoke(id, nowMs);
    await this.keys.refresh();
    return { ...key, revokedAtMs: key.revokedAtMs ?? nowMs };
  }

  async #active(id: string, nowMs: number): Promise<StoredKey> {
    const key = await this.#stored(id);
    if (key.revokedAtMs !== undefined) throw notFound(id, 'is revoked');
    if (key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs)
      throw notFound(id, 'has expired');
    return key;
  }

  async #stored(id: string): Promise<StoredKey> {
    if (this.ring.fixedKeys.some(key => key.id === id))
      throw new DomainError(
        'key_is_from_file',
        `The key ${id} is in the keys file or the settings; change it there.`,
      );
    const key = await this.store.find(id);
    if (!key) throw notFound(id);
    return key;
  }
}

const NO_EFFECT =
  'Keys have no effect while `auth.allow_anonymous` is true; set it to false and restart the gateway.';
const ADMIN_FIRST =
  '`scopes` must have `admin`: the first key makes keys required, and without an admin key nobody could make another. ' +
  'Make one for yourself first: `switchyard keys create --tenant ops --scope admin inference`.';

const prefixOf = (secret: string) => secret.slice(0, PREFIX_LENGTH);

const notFound = (id: string, why = 'does not exist'): DomainError =>
  new DomainError('key_not_found', `The key ${id} ${why}.`);

/**
 * Makes the file with one key that may do everything, unless it is there already.
 * @returns the text for the operator, the key included: it is stored nowhere. @throws
 *   ConfigError when it cannot be
 * written
 */
export function makeFirstKey({ server, auth }: Settings): string | undefined {
  if (existsSync(auth.keysFile)) return undefined;
  return announcement(server.host, newKey(auth.keysFile).key, auth.keysFile);
}

const announcement = (host: string, key: string, place: string) =>
  `No API keys are configured and the server listens on ${host}, so it made one. It is not shown again:

  ${key}

Clients send it as \`Authorization: Bearer KEY\`. Its hash is in ${place}; \`switchyard keys create\` adds more.
`;

function newKey(file: string) {
  try {
    return addApiKey(file, { tenant: DEFAULT_TENANT, scopes: KEY_SCOPES });
  } catch (error) {
    const { code = (error as Error).message } = error as NodeJS.ErrnoException;
    const message =
      `cannot be written (${code}), and the server listens beyond loopback without API keys. Name a keys file in ` +
      'auth.keys_file, or set auth.allow_anonymous: true when access is controlled elsewhere';
    throw new ConfigError([{ origin: file, message }]);
  }
}
