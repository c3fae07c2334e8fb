import {
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unwatchFile,
  utimesSync,
  watchFile,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, NEVER } from 'rxjs';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type StoredKey } from '../../core/access/stored-key.js';
import { settingsFrom } from '../config/settings.js';
import { KeyStore } from '../database/key-store.js';
import { OpenDatabase } from '../database/open-database.js';
import { HeldKeys } from './held-keys.js';
import { KeyRing } from './key-ring.js';
import { keyDigest } from './key-secret.js';
import { addApiKey } from './keys-file.js';
import { StoredKeys } from './stored-keys.js';

const HOUR_MS = 3_600_000;
const keyOf = (secret: string, fields: Partial<StoredKey> = {}): StoredKey => ({
  ...{ id: `id-${secret}`, name: 'n', tenant: 'acme', scopes: ['inference'] },
  ...{ sha256: keyDigest(secret), prefix: 'h', createdAtMs: 1 },
  ...fields,
});

describe('keys of the database', () => {
  let database: OpenDatabase;
  let store: KeyStore;
  let keys: StoredKeys;
  let ring: KeyRing;

  beforeEach(async () => {
    database = new OpenDatabase(join(temporaryFolder(), 'keys.db'));
    await database.migrate();
    store = new KeyStore(database);
    keys = new StoredKeys(store);
    ring = new KeyRing(settingsFrom({}), keys);
    await keys.refresh();
  });
  afterEach(() => database.db.destroy());

  it('are required from the first one on, also when all were revoked', async () => {
    expect([ring.enabled, ring.state]).toEqual([false, 'not_required']);
    await store.create(keyOf('a'));
    expect(ring.enabled).toBe(false);
    await keys.refresh();
    expect([ring.enabled, ring.state]).toEqual([true, 'required']);
    expect(ring.find('a')).toMatchObject({ keyId: 'id-a', tenant: 'acme' });
    await store.revoke('id-a', 2);
    await keys.refresh();
    expect([ring.enabled, ring.find('a'), ring.has('id-a')]).toEqual([true, undefined, false]);
  });

  it('have no effect where callers without a key are let in', async () => {
    await store.create(keyOf('a'));
    await keys.refresh();
    const open = new KeyRing(settingsFrom({ 'auth.allow_anonymous': true }), keys);
    expect([open.enabled, open.state]).toEqual([false, 'ignored']);
  });

  it('are read again only when something changed, which is told', async () => {
    let changes = 0;
    ring.changed$.subscribe(() => changes++);
    await keys.refresh();
    expect(changes).toBe(0);
    await store.create(keyOf('a'));
    await keys.refresh();
    await keys.refresh();
    expect(changes).toBe(1);
  });

  it('say that they expired, and are not held any more', async () => {
    await store.create(keyOf('late', { expiresAtMs: Date.now() - 1 }));
    await store.create(keyOf('soon', { expiresAtMs: Date.now() + HOUR_MS }));
    await keys.refresh();
    expect([ring.has('id-soon'), ring.find('soon')?.keyId]).toEqual([true, 'id-soon']);
    expect(ring.has('id-late')).toBe(false);
    const { held } = keys;
    expect(held.expiredBetween(Date.now(), Date.now() + 2 * HOUR_MS)).toBe(true);
    expect(held.expiredBetween(Date.now(), Date.now() + 1000)).toBe(false);
  });

  it('weigh as much as the largest of their tenant, 1000 at most', async () => {
    await store.create(keyOf('a', { limits: { weight: 5 } }));
    await store.create(keyOf('b', { limits: { weight: 2000 } }));
    await store.create(keyOf('c', { limits: { weight: 7, requests_per_minute: 3 }, tenant: 'z' }));
    await keys.refresh();
    expect(['acme', 'z', 'none'].map(tenant => ring.weightOf(tenant))).toEqual([1000, 7, 1]);
    expect(ring.limitsOf('id-c')).toEqual({ requestsPerMinute: 3 });
    expect(ring.limitsOf('id-a')).toBeUndefined();
  });

  it('are marked as used once, when that is saved', async () => {
    await store.create(keyOf('a'));
    await store.create(keyOf('b'));
    await keys.refresh();
    ring.find('a');
    await keys.saveUsed(5000);
    await keys.saveUsed(9000);
    expect((await store.find('id-a'))?.lastUsedAtMs).toBe(5000);
    expect((await store.find('id-b'))?.lastUsedAtMs).toBeUndefined();
  });

  it('know of sessions that ended at another gateway, until they would have expired', async () => {
    const other = new StoredKeys(store);
    await other.endSession(keyDigest('session'), Date.now() + HOUR_MS);
    expect([other.isEnded('session'), keys.isEnded('session')]).toEqual([true, false]);
    await keys.refresh();
    expect([keys.isEnded('session'), keys.isEnded('another')]).toEqual([true, false]);
    // One whose gateway's clock is behind, and which comes later.
    const endedAtMs = Date.now() - 300_000;
    const sha256 = keyDigest('behind');
    await store.endSession({ sha256, endedAtMs, expiresAtMs: Date.now() + HOUR_MS });
    await keys.refresh();
    expect(keys.isEnded('behind')).toBe(true);
    await keys.endSession(keyDigest('over'), Date.now() - 1);
    expect(keys.isEnded('over')).toBe(true);
    await keys.refresh();
    expect(keys.isEnded('over')).toBe(false);
  });
});

describe('keys of a file', () => {
  const file = join(temporaryFolder(), 'keys.yaml');
  const draft = `${file}.draft`;
  const other = (path: string) => addApiKey(path, { tenant: 'acme', scopes: ['inference'] }).key;
  const keep = () => undefined;

  it.each([
    ['written in place, with another time', () => writeFileSync(file, readFileSync(draft))],
    [
      'replaced by another of the same time',
      () => {
        const { atime, mtime } = statSync(file);
        utimesSync(draft, atime, mtime);
        renameSync(draft, file);
      },
    ],
  ])('are read again when it is %s', async (_, change) => {
    for (const path of [file, draft]) rmSync(path, { force: true });
    const first = other(file);
    const keys = { held: new HeldKeys([]), changed$: NEVER } as unknown as StoredKeys;
    // All who watch a file share the interval of the first.
    watchFile(file, { interval: 5 }, keep);
    const ring = new KeyRing(settingsFrom({ 'auth.keys_file': file }), keys);
    ring.onModuleInit();
    expect(ring.find(first)?.tenant).toBe('acme');
    const second = other(draft);
    const changed = firstValueFrom(ring.changed$);
    change();
    await changed;
    expect([ring.find(first), ring.find(second)?.tenant]).toEqual([undefined, 'acme']);
    ring.onApplicationShutdown();
    unwatchFile(file, keep);
  });
});
