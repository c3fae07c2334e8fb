import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CompiledQuery, type DatabaseConnection } from 'kysely';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { isOutage } from '../storage/storage-problems.js';
import { SqliteDriver } from './sqlite-driver.js';
import { isInUse } from './sqlite-snapshot.js';

describe('the thread that owns the file of SQLite', () => {
  let file: string;
  let driver: SqliteDriver;
  let connection: DatabaseConnection;
  beforeEach(async () => {
    file = join(temporaryFolder(), 'made', 'a.db');
    const opening = 'create temp table opened (a); insert into opened values (1)';
    driver = new SqliteDriver({ file, opening }, 2000);
    connection = await driver.acquireConnection();
  });
  afterEach(() => driver.destroy());
  const ask = (sql: string) => connection.executeQuery(CompiledQuery.raw(sql));

  it('fails what is late as an outage, what comes next at once, and rolls back behind it', async () => {
    // The thread waits for a lock as it does for a disk that does not answer.
    const held = join(dirname(file), 'held.db');
    await ask('create table t (a)');
    const holder = new DatabaseSync(held);
    holder.exec('create table o (a); begin immediate');
    await ask('pragma busy_timeout = 240000');
    await driver.beginTransaction(connection, {});
    await ask('insert into t values (1)');
    await ask(`attach '${held}' as held`);
    const late = await ask('insert into held.o values (1)').catch((error: unknown) => error);
    expect(isOutage(late)).toBe(true);
    await expect(ask('select 1')).rejects.toThrow('does not answer in time');
    await driver.rollbackTransaction();
    holder.close();
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

  it('makes the folder for its user, opens the file once, and answers rows or counts', async () => {
    await driver.init();
    await ask('create table t (a)');
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    expect(await ask('insert into t values (1) returning a')).toEqual({ rows: [{ a: 1 }] });
    expect(await ask('select a from t')).toEqual({ rows: [{ a: 1 }] });
    expect(await ask('update t set a = 2 where a = 9')).toEqual({ rows: [], numAffectedRows: 0n });
    expect(await ask('select count(*) as count from temp.opened')).toEqual({
      rows: [{ count: 1 }],
    });
    expect(() => connection.streamQuery(CompiledQuery.raw('select 1'), 1)).toThrow('streamed');
    await driver.releaseConnection();
  });

  it('keeps other writers out from the begin of a transaction to its end', async () => {
    await ask('create table t (a)');
    using other = new DatabaseSync(file);
    const write = () => other.exec('insert into t values (1)');
    await driver.beginTransaction(connection, {});
    expect(write).toThrow('locked');
    await ask('insert into t values (2)');
    await driver.commitTransaction(connection);
    write();
    await driver.beginTransaction(connection, {});
    await ask('delete from t');
    await driver.rollbackTransaction();
    await driver.rollbackTransaction();
    expect(await ask('select a from t')).toEqual({ rows: [{ a: 2 }, { a: 1 }] });
  });

  it('fails what comes when it ends as an outage; the next query opens the file again', async () => {
    await ask('create table t (a)');
    const ended = driver.destroy();
    const late = await ask('select 1').catch((error: unknown) => error);
    await ended;
    expect(late).toMatchObject({ code: 'EIO' });
    expect(isOutage(late)).toBe(true);
    expect(await ask('select a from t')).toEqual({ rows: [] });
  });

  it('closes the file at its end, and says why one cannot be opened, each time', async () => {
    await ask('create table t (a)');
    await driver.destroy();
    expect(isInUse(file)).toBe(false);
    const wrong = new SqliteDriver({ file, opening: 'nonsense' }, 2000);
    const asked = await wrong.acquireConnection();
    for (let times = 0; times < 2; times++)
      await expect(asked.executeQuery(CompiledQuery.raw('select 1'))).rejects.toThrow('nonsense');
    await wrong.destroy();
    await new SqliteDriver({ file, opening: '' }, 2000).destroy();
  });
});
