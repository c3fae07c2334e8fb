import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import {
  checkKey,
  freeBytes,
  isOutage,
  orStorageProblem,
  storageProblem,
} from './storage-problems.js';

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

describe('a failure of a disk or a blob store', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EFBIG'])('%s is a full one, with the place', async code => {
    const cause = withFields({ code });
    const full = {
      code: 'storage_full',
      message: expect.stringContaining('in the bucket.'),
      cause,
    };
    expect(storageProblem(cause, 'the bucket')).toMatchObject(full);
    await expect(orStorageProblem(Promise.reject(cause), 'the bucket')).rejects.toMatchObject(full);
  });

  it('is one that does not answer otherwise; what says what it means stays', async () => {
    const cause = withFields({ code: 'EIO' });
    expect(storageProblem(cause)).toMatchObject({ code: 'storage_unavailable', cause });
    const known = storageProblem(cause);
    expect(storageProblem(known)).toBe(known);
    expect(await orStorageProblem(Promise.resolve(7))).toBe(7);
  });

  it('is foreseen by the free bytes of a folder', async () => {
    const [bytes, { bavail, bsize }] = [await freeBytes(tmpdir()), statfsSync(tmpdir())];
    expect(Math.abs(bytes / (bavail * bsize) - 1)).toBeLessThan(0.5);
  });
});

describe('the key of a blob', () => {
  it('has 200 characters at most', () => {
    expect(checkKey('x'.repeat(200))).toBe('x'.repeat(200));
    expect(() => checkKey('x'.repeat(201))).toThrow('Not a blob key');
    expect(() => checkKey('../x')).toThrow('Not a blob key: "../x".');
  });
});

describe('isOutage', () => {
  it('is no text and no nothing', () => {
    for (const none of ['connection terminated', null, undefined])
      expect(isOutage(none)).toBe(false);
  });

  it('is what the SDK of S3 marks as a fault', () => {
    expect(isOutage(withFields({ $fault: 'server' }))).toBe(true);
  });

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
