import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CompiledQuery, type DatabaseConnection } from 'kysely';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { isOutage } from '../storage/storage-problems.js';
import { SqliteDriver } from './sqlite-driver.js';

/** Keeps the thread busy, as a disk does that does not answer. */
const SLOW = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000000)
  select max(i) as most from n`;

describe('the thread that owns the file of SQLite', () => {
  let driver: SqliteDriver;
  let connection: DatabaseConnection;
  beforeEach(async () => {
    driver = new SqliteDriver({ file: join(temporaryFolder(), 'made', 'a.db'), opening: '' }, 2000);
    connection = await driver.acquireConnection();
  });
  afterEach(() => driver.destroy());
  const ask = (sql: string) => connection.executeQuery(CompiledQuery.raw(sql));

  it('fails what is late as an outage, what comes next at once, and rolls back behind it', async () => {
    await ask('create table t (a)');
    await driver.beginTransaction(connection, {});
    await ask('insert into t values (1)');
    const late = await ask(SLOW).catch((error: unknown) => error);
    expect(isOutage(late)).toBe(true);
    await expect(ask('select 1')).rejects.toThrow('does not answer in time');
    await driver.rollbackTransaction();
    const again = async (): Promise<unknown> => {
      for (;;) {
        const answer = await ask('select count(*) as count from t').catch(() => undefined);
        if (answer) return answer.rows;
        await new Promise(resolve => setTimeout(resolve, 10));
      }
    };
    expect(await again()).toEqual([{ count: 0 }]);
  });

  it('carries the codes of SQLite’s errors, and counts changed rows', async () => {
    await ask('create table t (a primary key)');
    expect(await ask('insert into t values (1), (2)')).toMatchObject({ numAffectedRows: 2n });
    await expect(ask('insert into t values (1)')).rejects.toMatchObject({
      code: 'ERR_SQLITE_ERROR',
      errcode: 1555,
    });
  });
});
