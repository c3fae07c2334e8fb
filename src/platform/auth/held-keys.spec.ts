import { describe, expect, it } from '@jest/globals';
import { type StoredKey } from '../../core/access/stored-key.js';
import { HeldKeys } from './held-keys.js';

const key = (id: string, change: Partial<StoredKey> = {}): StoredKey => ({
  ...{ id, name: id, tenant: 'acme', scopes: ['inference', 'later'], sha256: `${id}1` },
  ...{ prefix: 'p', createdAtMs: 1 },
  ...change,
});

describe('keys in memory', () => {
  it('are found by digest and by id, with what they allow', () => {
    const held = new HeldKeys([
      key('a', {
        limits: { requests_per_minute: 2, weight: 3, max_deadline_ms: 9 },
        models: ['stt'],
        defaultPriority: 'realtime',
        expiresAtMs: 50,
      }),
      key('b', { limits: { weight: 5000 }, tenant: 'z' }),
      key('c'),
    ]);
    expect(held.size).toBe(3);
    expect(held.find('a1')).toEqual({
      principal: {
        keyId: 'a',
        tenant: 'acme',
        scopes: new Set(['inference']),
        terms: { key: 'a', maxDeadlineMs: 9, models: ['stt'], defaultPriority: 'realtime' },
      },
      expiresAtMs: 50,
      limits: { requestsPerMinute: 2 },
      weight: 3,
    });
    expect(held.get('b')).toMatchObject({ limits: undefined, weight: 1000 });
    expect(held.get('c')).toMatchObject({ limits: undefined, weight: 1 });
    expect([held.find('none'), held.get('none')]).toEqual([undefined, undefined]);
    expect([...held.weights]).toEqual(
      expect.arrayContaining([
        ['acme', 3],
        ['z', 1000],
      ]),
    );
  });

  it.each([
    [undefined, 40, 40],
    [50, 40, 40],
    [30, 40, 30],
  ])('that end at %p: the secret before, kept until %p, ends at %p', (expiresAtMs, untilMs, at) => {
    const held = new HeldKeys([key('a', { expiresAtMs, replaced: { sha256: 'a0', untilMs } })]);
    expect(held.find('a0')).toMatchObject({ principal: { keyId: 'a' }, expiresAtMs: at });
    expect(held.find('a1')?.expiresAtMs).toBe(expiresAtMs);
    expect(held.get('a')?.expiresAtMs).toBe(expiresAtMs);
    expect(held.size).toBe(1);
  });

  it.each([
    [49, 50, true],
    [49, 51, true],
    [50, 60, false],
    [40, 49, false],
  ])('of which one ends at 50 say whether one ended after %d until %d: %p', (from, to, ended) => {
    const held = new HeldKeys([key('a', { expiresAtMs: 50 }), key('b')]);
    expect(held.expiredBetween(from, to)).toBe(ended);
  });
});
