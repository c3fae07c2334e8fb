import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { isOutage } from './storage-problems.js';

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

const withFields = (fields: object, message = 'x'): Error =>
  Object.assign(new Error(message), fields);

describe('isOutage', () => {
  it.each([
    ['a disk that is full', { code: 'ENOSPC' }],
    ['a server that refuses', { code: 'ECONNREFUSED' }],
    ['Postgres that is going down', { severity: 'FATAL', code: '57P01' }],
    ['Postgres without room', { severity: 'ERROR', code: '53100' }],
    ['Postgres that is read-only, as after a failover', { severity: 'ERROR', code: '25006' }],
    ['Postgres that ended a transaction for its age', { severity: 'FATAL', code: '25P04' }],
    ['Postgres that refuses our account', { severity: 'FATAL', code: '28P01' }],
    ['Postgres without our database, as during a restore', { severity: 'FATAL', code: '3D000' }],
    ['Postgres with a broken disk', { severity: 'ERROR', code: 'XX001' }],
    ['SQLite that is busy', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
    ['SQLite with an extended I/O error', { code: 'ERR_SQLITE_ERROR', errcode: 10 + (3 << 8) }],
    ['what S3 says', { $metadata: { httpStatusCode: 503 } }],
    ['one behind another error', { cause: withFields({ code: 'EIO' }) }],
  ])('is %s', (_, fields) => {
    expect(isOutage(withFields(fields))).toBe(true);
  });

  it('is a connection that pg lost, which has no code', () => {
    expect(isOutage(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isOutage(new Error('timeout exceeded when trying to connect'))).toBe(true);
  });

  it.each([
    ['a broken rule of Postgres', { severity: 'ERROR', code: '23505' }],
    ['a wrong question to Postgres', { severity: 'ERROR', code: '42P01' }],
    ['a missing right in Postgres', { severity: 'ERROR', code: '42501' }],
    ['a write in a transaction that had failed', { severity: 'ERROR', code: '25P02' }],
    ['a wrong argument', { code: 'ERR_INVALID_ARG_TYPE' }],
    ['a mistake', {}],
  ])('is not %s', (_, fields) => {
    expect(isOutage(withFields(fields))).toBe(false);
  });

  it('is not a broken rule or a wrong question of the real SQLite', () => {
    using database = new DatabaseSync(':memory:');
    database.exec('create table t (id integer primary key); insert into t values (1)');
    expect(isOutage(thrownBy(() => database.exec('insert into t values (1)')))).toBe(false);
    expect(isOutage(thrownBy(() => database.exec('select * from nothing')))).toBe(false);
  });
});
