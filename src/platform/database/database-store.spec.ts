import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { changesRows, columnsOf, DatabaseStore, equals, pageOf } from './database-store.js';
import { OpenDatabase } from './open-database.js';

const database = new OpenDatabase(join(temporaryFolder(), 'a.db'));
const entry = (id: string, tenant = 'acme') => ({
  ...{ id, tenant, atMs: 1, keyId: 'k', action: '', target: '', detail: '', requestId: 'r' },
  outcome: 'ok' as const,
});
const { db } = database;

beforeAll(async () => {
  await database.migrate();
  await db
    .insertInto('audit')
    .values(['a', 'b', 'c'].map(id => entry(id)))
    .execute();
});
afterAll(() => db.destroy());

describe('a page', () => {
  it.each([
    [{ limit: 2 }, 'cb', true],
    [{ limit: 3 }, 'cba', false],
    [{ limit: 4 }, 'cba', false],
    [{ limit: 2, order: 'asc' as const }, 'ab', true],
    [{ limit: 2, after: 'c' }, 'ba', false],
    [{ limit: 1, after: 'a', order: 'asc' as const }, 'b', true],
    [{ limit: 1, after: 'a' }, '', false],
  ])('of %j is %s, with more: %p', async (page, ids, hasMore) => {
    const found = await pageOf(db.selectFrom('audit').select('id'), page);
    expect(found).toEqual({ data: [...ids].map(id => ({ id })), hasMore });
  });
});

it('a statement says whether it changed a row', async () => {
  const none = equals<'audit'>({ id: 'none', tenant: 'acme' });
  const insert = () => db.insertInto('audit').values(entry('d', 'other'));
  expect(await changesRows(insert())).toBe(true);
  expect(await changesRows(insert().onConflict(conflict => conflict.doNothing()))).toBe(false);
  const update = db.updateTable('audit').set({ detail: 'x' });
  expect(await changesRows(update.where('tenant', '=', 'other'))).toBe(true);
  expect(await changesRows(update.where(none))).toBe(false);
  const removal = db.deleteFrom('audit');
  expect(await changesRows(removal.where(none))).toBe(false);
  expect(await changesRows(removal.where(equals({ id: 'd', tenant: 'other' })))).toBe(true);
});

it('the columns of a table are all but those that only its store reads', () => {
  expect(columnsOf('audit', 'outcome', 'id').sort()).toEqual(
    Object.keys(entry('a'))
      .filter(column => !['outcome', 'id'].includes(column))
      .sort(),
  );
});

it('the clock of the database is that of the machine, in milliseconds', async () => {
  class Store extends DatabaseStore {
    later = async () => {
      const { at } = await this.db.selectNoFrom(this.after(500).as('at')).executeTakeFirstOrThrow();
      return at;
    };
    sum = (tenant: string) => this.bytesIn('files', tenant);
  }
  const store = new Store(database);
  const before = Date.now();
  const [nowMs, laterMs] = [await store.clockMs(), await store.later()];
  expect(nowMs).toBeGreaterThanOrEqual(before - 1);
  expect(nowMs).toBeLessThanOrEqual(Date.now());
  expect(laterMs).toBeGreaterThanOrEqual(before + 499);
  expect(laterMs).toBeLessThanOrEqual(Date.now() + 500);
  expect(await store.sum('acme')).toBe(0);
});
