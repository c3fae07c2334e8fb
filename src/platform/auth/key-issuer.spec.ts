import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../config/settings.js';
import { KeyStore } from '../database/key-store.js';
import { OpenDatabase } from '../database/open-database.js';
import { KeyIssuer, makeFirstKey } from './key-issuer.js';
import { KeyRing } from './key-ring.js';
import { keyDigest } from './key-secret.js';
import { StoredKeys } from './stored-keys.js';

const HOUR_MS = 3_600_000;
const ADMIN = { name: 'n', tenant: 'ops', scopes: ['admin'] };
const settings = settingsFrom({ 'server.host': '0.0.0.0' });

let database: OpenDatabase;
let store: KeyStore;

beforeAll(async () => {
  database = new OpenDatabase(join(temporaryFolder(), 'keys.db'));
  await database.migrate();
});
afterAll(() => database.db.destroy());
beforeEach(async () => {
  await database.db.deleteFrom('api_keys').execute();
  await database.db.updateTable('api_key_version').set({ version: 0 }).execute();
  store = new KeyStore(database);
});

function issuerWith(changed: Readonly<Record<string, unknown>> = {}) {
  const keys = new StoredKeys(store);
  const ring = new KeyRing(settingsFrom(changed), keys);
  return { issuer: new KeyIssuer(store, keys, ring), ring };
}

describe('a key of the database', () => {
  it('is in effect when it was made, changed, rotated or revoked', async () => {
    const { issuer, ring } = issuerWith();
    const nowMs = Date.now();
    const { key, secret, first } = await issuer.create(ADMIN, nowMs);
    expect(key).toEqual({
      ...ADMIN,
      id: expect.stringMatching(/^key_/),
      sha256: keyDigest(secret),
      prefix: secret.slice(0, 18),
      createdAtMs: nowMs,
    });
    expect([first, ring.find(secret)?.tenant]).toEqual([true, 'ops']);
    const changed = await issuer.update(key.id, { name: 'other', scopes: ['events'] });
    expect(changed).toEqual({ ...key, name: 'other', scopes: ['events'] });
    expect(ring.find(secret)?.scopes).toEqual(new Set(['events']));
    const rotated = await issuer.rotate(key.id, 0);
    expect(rotated.key).toMatchObject({
      ...{ id: key.id, sha256: keyDigest(rotated.secret), prefix: rotated.secret.slice(0, 18) },
    });
    expect([ring.find(secret), ring.find(rotated.secret)?.tenant]).toEqual([undefined, 'ops']);
    const again = await issuer.rotate(key.id, HOUR_MS);
    const { replaced } = (await store.find(key.id))!;
    expect(replaced?.sha256).toBe(keyDigest(rotated.secret));
    expect(Math.abs(replaced!.untilMs - Date.now() - HOUR_MS)).toBeLessThan(HOUR_MS / 2);
    for (const each of [rotated, again]) expect(ring.find(each.secret)?.tenant).toBe('ops');
    const revoked = await issuer.revoke(key.id);
    expect((await store.find(key.id))?.revokedAtMs).toBe(revoked.revokedAtMs);
    expect(ring.find(again.secret)).toBeUndefined();
    await database.db.updateTable('api_keys').set({ revokedAtMs: 7 }).execute();
    expect((await issuer.revoke(key.id)).revokedAtMs).toBe(7);
  });

  it('cannot be rotated when it is over; an expired one may get another expiry', async () => {
    const { issuer } = issuerWith();
    const nowMs = Date.now();
    const { key } = await issuer.create({ ...ADMIN, expiresAtMs: nowMs + HOUR_MS });
    await issuer.rotate(key.id, 0);
    jest.spyOn(Date, 'now').mockReturnValue(nowMs + HOUR_MS);
    await expect(issuer.rotate(key.id, 0)).rejects.toThrow(`The key ${key.id} has expired.`);
    jest.restoreAllMocks();
    expect(await issuer.update(key.id, { expiresAtMs: null })).not.toHaveProperty('expiresAtMs');
    await issuer.revoke(key.id);
    for (const refused of [issuer.rotate(key.id, 0), issuer.update(key.id, { name: 'x' })])
      await expect(refused).rejects.toThrow(`The key ${key.id} is revoked.`);
    await expect(issuer.rotate('none', 0)).rejects.toThrow('The key none does not exist.');
  });

  it('that is revoked while it is rotated stays revoked', async () => {
    const { issuer } = issuerWith();
    const { key } = await issuer.create(ADMIN);
    jest.spyOn(store, 'rotate').mockResolvedValue(false);
    await expect(issuer.rotate(key.id, 0)).rejects.toMatchObject({ code: 'key_not_found' });
  });

  it('is not made, as the first, without the scope admin, or where it would have no effect', async () => {
    const { issuer } = issuerWith();
    const narrow = { ...ADMIN, scopes: ['inference'] };
    await expect(issuer.create(narrow)).rejects.toMatchObject({ param: 'scopes' });
    const open = issuerWith({ 'auth.allow_anonymous': true }).issuer;
    await expect(open.create(ADMIN)).rejects.toThrow('Keys have no effect');
    await issuer.create(ADMIN);
    expect(await issuer.create(narrow)).toMatchObject({ first: false });
  });

  it('is refused beside 10,000 others', async () => {
    const { issuer } = issuerWith();
    const count = jest.spyOn(store, 'countLive').mockResolvedValue(9999);
    await issuer.create(ADMIN);
    count.mockResolvedValue(10_000);
    await expect(issuer.create(ADMIN)).rejects.toMatchObject({ code: 'too_many_keys' });
  });

  it('is no key of the settings: that one is changed there', async () => {
    const { issuer } = issuerWith({ 'auth.key': 'sk-of-the-settings' });
    const { key } = await issuer.create(ADMIN);
    for (const refused of [issuer.revoke('auth.key'), issuer.rotate('auth.key', 0)])
      await expect(refused).rejects.toMatchObject({ code: 'key_is_from_file' });
    expect(await issuer.revoke(key.id)).toMatchObject({ id: key.id });
  });

  it('is made once as the first, and told to the operator', async () => {
    const { issuer, ring } = issuerWith();
    const told = (await issuer.createFirst(settings))!;
    expect(told).toMatch(/listens on 0\.0\.0\.0[^]*Its hash is in the database/);
    const [secret = ''] = /sk-switchyard-\S+/.exec(told) ?? [];
    expect([...ring.find(secret)!.scopes]).toEqual(['inference', 'admin', 'events']);
    expect(await issuer.createFirst(settings)).toBeUndefined();
  });
});

describe('the first key of a file', () => {
  it('is made where the file is missing, and never again', () => {
    const file = join(temporaryFolder(), 'keys.yaml');
    const wanted = settingsFrom({ 'auth.keys_file': file });
    const [secret = ''] = /sk-switchyard-\S+/.exec(makeFirstKey(wanted)!) ?? [];
    expect(readFileSync(file, 'utf8')).toContain(keyDigest(secret));
    expect(makeFirstKey(wanted)).toBeUndefined();
  });

  it('whose folder takes no file is no start, and says what to do', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'keys.yaml.new'));
    const wanted = settingsFrom({ 'auth.keys_file': join(folder, 'keys.yaml') });
    expect(() => makeFirstKey(wanted)).toThrow(/cannot be written \(EISDIR\)/);
  });
});
