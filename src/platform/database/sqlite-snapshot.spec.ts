import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { MIGRATIONS } from './migrations.js';
import { OpenDatabase } from './open-database.js';
import { demandKnownSchema, isInUse, SqliteSnapshot } from './sqlite-snapshot.js';

let folder: string;
let file: string;
let writer: DatabaseSync;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'a.db');
  writer = new DatabaseSync(file);
  writer.exec('pragma journal_mode = wal; create table t (a); begin');
  // More pages than one step of a copy takes.
  for (let row = 0; row < 300; row++)
    writer.prepare('insert into t values (?)').run('x'.repeat(4000));
  writer.exec('commit');
});
afterEach(() => {
  if (writer.isOpen) writer.close();
});

const countIn = (path: string) => {
  const copy = new DatabaseSync(path);
  const row = copy.prepare('select count(*) as count from t').get();
  copy.close();
  return row?.count;
};

it('is the state of its moment, also while others write; its share done grows to 1', async () => {
  const snapshot = new SqliteSnapshot(file);
  writer.exec('delete from t');
  const shares: number[] = [];
  await snapshot.copyTo(join(folder, 'copy.db'), share => void shares.push(share));
  snapshot[Symbol.dispose]();
  expect(countIn(join(folder, 'copy.db'))).toBe(300);
  expect(countIn(file)).toBe(0);
  expect(shares.length).toBeGreaterThan(0);
  for (const share of shares) expect(share > 0 && share <= 1).toBe(true);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
});

it('lets go of its file when it is disposed of, and when it cannot be read', () => {
  writer.close();
  const snapshot = new SqliteSnapshot(file);
  expect(isInUse(file)).toBe(true);
  snapshot[Symbol.dispose]();
  expect(isInUse(file)).toBe(false);
  const text = join(folder, 'text');
  writeFileSync(text, 'no database at all'.repeat(100));
  expect(() => new SqliteSnapshot(text)).toThrow(`${text} cannot be read: file is not a database`);
  expect(isInUse(text)).toBe(false);
});

it('knows the last migration of its file; one of a newer release is refused', async () => {
  const path = join(folder, 'migrated.db');
  const database = new OpenDatabase(path);
  await database.migrate();
  await database.db.destroy();
  using snapshot = new SqliteSnapshot(path);
  expect(snapshot.schema).toBe(Object.keys(MIGRATIONS).at(-1));
  demandKnownSchema(snapshot.schema);
  expect(() => demandKnownSchema('999-of-tomorrow')).toThrow(
    'it has the migration 999-of-tomorrow',
  );
});
