import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type KeyRing } from '../../platform/auth/key-ring.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type KeyStore } from '../../platform/database/key-store.js';
import { type UsageStore } from '../../platform/database/usage-store.js';
import { type UsageRecorder } from './usage-recorder.js';
import { AdminUsageController } from './usage.controller.js';

const TODAY = '2026-03-31';
const MOST = 10_000;
const sums = (tenant: string, requests: number) => ({ tenant, requests, audioMs: 2000 });

describe('usage', () => {
  let rows: object[];
  /** What is done in the database: queries come after what is not written yet. */
  let log: object[];
  let usage: AdminUsageController;

  beforeEach(() => {
    jest.useFakeTimers({ now: Date.parse(`${TODAY}T23:59:59Z`) });
    [rows, log] = [[], []];
    const sum = (query: object) => {
      log.push(query);
      return Promise.resolve(rows);
    };
    usage = new AdminUsageController(
      { sum } as unknown as UsageStore,
      { live: () => Promise.resolve([{ tenant: 'b' }, { tenant: 'a' }]) } as unknown as KeyStore,
      settingsFrom({ 'limits.requests_per_minute': 7 }),
      { fixedKeys: [{ tenant: 'a' }], weightOf: () => 3 } as unknown as KeyRing,
      { flush: () => Promise.resolve(log.push({ flush: 1 })) } as unknown as UsageRecorder,
    );
  });
  afterEach(() => void jest.useRealTimers());

  it.each([
    [{}, '2026-03-02', TODAY],
    [{ to: '2026-03-01' }, '2026-01-31', '2026-03-01'],
    [{ from: TODAY }, TODAY, TODAY],
  ])('of %j is that from %s to %s', async (query, from, to) => {
    expect(await usage.usage(query as never)).toMatchObject({ from, to, has_more: false });
    expect(log).toEqual([{ flush: 1 }, expect.objectContaining({ from, to, limit: MOST + 1 })]);
  });

  it.each([
    [{ from: '2026-04-01' }, 'from'],
    [{ to: '2026-02-30' }, 'to'],
    [{ to: 'never' }, 'to'],
    [{ from: '2026-02-30', to: '2026-03-01' }, 'from'],
    [{ from: '2026-01-01', to: '2026-02-30' }, 'to'],
  ])('is refused for %j', async (query, param) => {
    await expect(usage.usage(query as never)).rejects.toMatchObject({ param });
    expect(log).toEqual([]);
  });

  it.each([
    [MOST, false],
    [MOST + 1, true],
  ])('of %p groups has more: %p', async (count, has_more) => {
    rows = Array.from({ length: count }, () => sums('a', 1));
    const { data, has_more: more } = await usage.usage({} as never);
    expect([data.length, more]).toEqual([MOST, has_more]);
  });

  it('of today and keys are listed for every tenant that has either', async () => {
    rows = [sums('c', 5), sums('a', 6)];
    const { data, has_more } = await usage.tenants();
    expect(has_more).toBe(false);
    expect(data).toMatchObject([
      { id: 'a', keys: 2, weight: 3, usage_today: { requests: 6, audio_s: 2 } },
      { id: 'b', keys: 1, usage_today: { requests: 0 } },
      { id: 'c', keys: 0, usage_today: { requests: 5 } },
    ]);
    expect(data[0]!.limits).toMatchObject({ requests_per_minute: 7 });
    expect(log).toEqual([{ flush: 1 }, expect.objectContaining({ from: TODAY, to: TODAY })]);
  });
});
