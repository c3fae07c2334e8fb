import { describe, expect, it } from '@jest/globals';
import { type KeyIssuer } from '../../platform/auth/key-issuer.js';
import { type KeyRing } from '../../platform/auth/key-ring.js';
import { type KeyStore } from '../../platform/database/key-store.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { AdminKeysController } from './keys.controller.js';

const DAY_MS = 86_400_000;
const key = (id: string) => ({ id, name: 'n', tenant: 't', scopes: [], createdAtMs: 0 });

describe('keys of an operator', () => {
  const given: Record<string, unknown>[] = [];
  const take = (fields: object, first?: boolean) => {
    given.push(fields as Record<string, unknown>);
    return Promise.resolve({ key: key('k'), secret: 's', ...(first && { first }) });
  };
  const issuer = {
    create: (fields: object, nowMs: number) => take({ ...fields, nowMs }, true),
    update: async (_: string, change: object) => (await take(change)).key,
    rotate: (_: string, graceMs: number) => take({ graceMs }),
  };
  const store = {
    list: (limit: number) => Promise.resolve(['a', 'b', 'c'].slice(0, limit).map(key)),
  };
  const keys = new AdminKeysController(
    store as unknown as KeyStore,
    { fixedKeys: [] } as unknown as KeyRing,
    issuer as unknown as KeyIssuer,
    { get: (name: string) => ({ id: name.toLowerCase() }) } as unknown as ModelCatalog,
  );

  it.each([
    [1, 1, true],
    [2, 2, true],
    [3, 3, false],
  ])('are listed, at most %p', async (limit, count, hasMore) => {
    const { data, has_more } = await keys.list({ limit });
    expect([data.length, has_more]).toEqual([count, hasMore]);
  });

  it('are created with what is given, each scope and model once', async () => {
    const made = await keys.create({
      name: 'n',
      tenant: 't',
      scopes: ['admin', 'admin'],
      models: ['M', 'm'],
      expires_in_days: 2,
    } as never);
    expect(made).toMatchObject({ makes_keys_required: true });
    const { nowMs, ...fields } = given.pop()!;
    expect(fields).toMatchObject({
      scopes: ['admin'],
      models: ['m'],
      expiresAtMs: (nowMs as number) + 2 * DAY_MS,
      limits: undefined,
    });
  });

  it.each([
    [{ name: 'new' }, { name: 'new', scopes: undefined, expiresAtMs: undefined }],
    [{ expires_at: 5 }, { expiresAtMs: 5000 }],
    [{ expires_at: null }, { expiresAtMs: null }],
    [{ models: null }, { models: null }],
  ])('are changed by %j', async (body, change) => {
    await keys.update('k', body);
    expect(given.pop()).toMatchObject(change);
  });

  it.each([
    [{}, 'Nothing would change'],
    [{ expires_at: 1, expires_in_days: 1 }, 'not both'],
  ])('are not changed by %j', async (body, message) => {
    await expect(keys.update('k', body as never)).rejects.toThrow(message);
  });

  it('are rotated within seconds', async () => {
    expect(await keys.rotate('k', { grace_s: 3 })).toMatchObject({ makes_keys_required: false });
    expect(given.pop()).toEqual({ graceMs: 3000 });
  });
});
