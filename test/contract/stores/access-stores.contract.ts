import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AuditEntry } from '../../../src/core/access/audit-entry.js';
import { type StoredKey } from '../../../src/core/access/stored-key.js';
import { type UsageRow } from '../../../src/core/access/usage-row.js';
import { type KeyStore } from '../../../src/platform/database/key-store.js';
import { type UsageStore, type AuditStore } from '../../../src/platform/database/usage-store.js';
import { NOW_MS } from './batch-fixtures.js';

const aKey = (id: string, change: Partial<StoredKey> = {}): StoredKey => ({
  id,
  name: 'naïve "key"',
  tenant: 'acme',
  scopes: ['inference'],
  prefix: 'sk-switchyard-abcd',
  sha256: id.padEnd(64, '0'),
  createdAtMs: NOW_MS,
  ...change,
});

const use = (change: Partial<UsageRow> = {}): UsageRow => ({
  day: '2027-01-15',
  tenant: 'acme',
  key: 'k1',
  model: 'stt',
  requests: 1,
  completed: 1,
  failed: 0,
  cancelled: 0,
  audioMs: 1500,
  characters: 0,
  inputTokens: 3,
  outputTokens: 4,
  deviceMs: 20,
  ...change,
});

const entry = (id: string, change: Partial<AuditEntry> = {}): AuditEntry => ({
  id,
  atMs: NOW_MS,
  tenant: 'ops',
  keyId: 'k',
  action: 'POST /admin/v1/keys',
  target: '',
  detail: '',
  requestId: 'r',
  outcome: 'ok',
  ...change,
});

interface AccessStores {
  readonly keys: KeyStore;
  readonly others: KeyStore;
  readonly usage: UsageStore;
  readonly othersUsage: UsageStore;
  readonly audit: AuditStore;
}

/** The same for both dialects. */
export function accessStoresContract(fresh: () => Promise<AccessStores>): void {
  let keys: KeyStore;
  let others: KeyStore;
  let usage: UsageStore;
  let othersUsage: UsageStore;
  let audit: AuditStore;
  beforeEach(async () => {
    ({ keys, others, usage, othersUsage, audit } = await fresh());
  });

  describe('keys', () => {
    it('come back as they were stored, newest first', async () => {
      const full = aKey('b', {
        models: ['stt'],
        limits: { requests_per_minute: 2 },
        defaultPriority: 'realtime',
        createdAtMs: NOW_MS + 1,
        expiresAtMs: NOW_MS + 9,
        replaced: { sha256: 'c'.repeat(64), untilMs: 5 },
      });
      await keys.create(aKey('a'));
      await keys.create(full);
      expect(await others.list(10)).toEqual([full, aKey('a')]);
      expect(await others.list(1)).toEqual([full]);
      expect(await others.find('a')).toEqual(aKey('a'));
      expect(await others.countLive()).toBe(2);
    });

    it('of one id are one: the later changes nothing', async () => {
      const made = await Promise.all([keys.create(aKey('a')), others.create(aKey('a'))]);
      expect(made.sort()).toEqual([false, true]);
      expect(await keys.countLive()).toBe(1);
    });

    it('raise the version that others see with every change, and with no failed one', async () => {
      const before = await others.version();
      await keys.create(aKey('a'));
      await keys.rotate('a', { sha256: 'd'.repeat(64), prefix: 'p' });
      await keys.markUsed(['a'], NOW_MS + 1);
      await keys.revoke('a', NOW_MS + 2);
      expect(await keys.revoke('a', NOW_MS + 3)).toBe(false);
      expect(await keys.rotate('a', { sha256: 'e'.repeat(64), prefix: 'p' })).toBe(false);
      expect(await others.version()).toBe(before + 3);
      expect(await others.live()).toEqual([]);
      expect(await others.find('a')).toMatchObject({
        revokedAtMs: NOW_MS + 2,
        lastUsedAtMs: NOW_MS + 1,
      });
    });

    it('are changed until they are revoked; the last use of one does not go back', async () => {
      await keys.create(aKey('a', { expiresAtMs: NOW_MS + 9 }));
      const before = await others.version();
      expect(await keys.update('a', { name: 'other', expiresAtMs: null })).toBe(true);
      expect(await others.find('a')).toEqual(aKey('a', { name: 'other' }));
      expect(await others.live()).toHaveLength(1);
      expect(await keys.update('none', { name: 'x' })).toBe(false);
      await keys.markUsed([], NOW_MS);
      for (const atMs of [NOW_MS + 5, NOW_MS + 4]) await keys.markUsed(['a'], atMs);
      await keys.revoke('a', NOW_MS);
      expect(await keys.update('a', { name: 'late' })).toBe(false);
      expect(await others.find('a')).toMatchObject({ name: 'other', lastUsedAtMs: NOW_MS + 5 });
      expect(await others.version()).toBe(before + 2);
      expect(await others.countLive()).toBe(0);
    });

    it('keep ended sessions for others, those that ended since an instant, until they would have expired', async () => {
      const session = (digit: string, endedAtMs: number, expiresAtMs: number) => ({
        sha256: digit.repeat(64),
        endedAtMs,
        expiresAtMs,
      });
      const [short, long] = [
        session('1', NOW_MS, NOW_MS + 2),
        session('2', NOW_MS + 1, NOW_MS + 9),
      ];
      for (const each of [short, long, { ...long, endedAtMs: NOW_MS + 3 }])
        await keys.endSession(each);
      expect(await others.endedSessions(NOW_MS)).toEqual([long]);
      expect(await others.endedSessions(NOW_MS + 2)).toEqual([]);
    });

    it('keep the replaced secret only where it stays valid', async () => {
      await keys.create(aKey('a'));
      await keys.rotate('a', { sha256: '1'.repeat(64), prefix: 'p1', replacedUntilMs: NOW_MS + 9 });
      const replaced = { sha256: aKey('a').sha256, untilMs: NOW_MS + 9 };
      expect(await keys.find('a')).toMatchObject({
        sha256: '1'.repeat(64),
        prefix: 'p1',
        replaced,
      });
      await keys.rotate('a', { sha256: '2'.repeat(64), prefix: 'p2' });
      expect(await keys.find('a')).not.toHaveProperty('replaced');
    });
  });

  describe('usage', () => {
    const all = { from: '2027-01-01', to: '2027-12-31', limit: 10 };

    it('of two gateways adds up', async () => {
      await Promise.all([
        usage.add([use(), use({ model: 'llm' })]),
        othersUsage.add([use({ model: 'llm' }), use()]),
      ]);
      expect(await usage.sum({ ...all, groupBy: ['model'] })).toEqual([
        expect.objectContaining({ model: 'llm', requests: 2, audioMs: 3000, outputTokens: 8 }),
        expect.objectContaining({ model: 'stt', requests: 2, deviceMs: 40 }),
      ]);
    });

    it('is summed by any groups, within days, of one tenant', async () => {
      await usage.add([
        use(),
        use({ day: '2027-01-16', failed: 1, completed: 0 }),
        use({ tenant: 'other', key: 'k2' }),
        use({ day: '2026-12-31' }),
      ]);
      expect(await usage.sum({ ...all, groupBy: [] })).toEqual([
        expect.objectContaining({ requests: 3 }),
      ]);
      expect(await usage.sum({ ...all, groupBy: ['day', 'tenant'], tenant: 'acme' })).toEqual([
        expect.objectContaining({ day: '2027-01-16', tenant: 'acme', requests: 1, failed: 1 }),
        expect.objectContaining({ day: '2027-01-15', tenant: 'acme', requests: 1, failed: 0 }),
      ]);
      await usage.removeBefore('2027-01-16');
      expect(await usage.sum({ ...all, groupBy: ['key'] })).toEqual([
        expect.objectContaining({ key: 'k1', requests: 1 }),
      ]);
    });

    it('of nothing is nothing', async () => {
      expect(await usage.sum({ ...all, groupBy: [] })).toEqual([]);
    });
  });

  it('the audit log is read newest first, page by page, and expires', async () => {
    for (const id of ['a', 'b', 'c'])
      await audit.add(entry(id, { atMs: NOW_MS + id.charCodeAt(0) }));
    expect((await audit.list({ limit: 2 })).data).toEqual([
      entry('c', { atMs: NOW_MS + 99 }),
      entry('b', { atMs: NOW_MS + 98 }),
    ]);
    expect((await audit.list({ limit: 2, after: 'b' })).data.map(({ id }) => id)).toEqual(['a']);
    await audit.removeBefore(NOW_MS + 99);
    expect((await audit.list({ limit: 9 })).data.map(({ id }) => id)).toEqual(['c']);
  });
}
