import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { FileStore } from './file-store.js';
import { OpenDatabase } from './open-database.js';

let folder: string;
let database: OpenDatabase;
let files: FileStore;
let outsider: DatabaseSync;

beforeEach(async () => {
  folder = temporaryFolder();
  const path = join(folder, 'switchyard.db');
  database = new OpenDatabase(path);
  await database.migrate();
  files = new FileStore(database);
  outsider = new DatabaseSync(path);
});
afterEach(async () => {
  outsider.close();
  await database.db.destroy();
});

const file = (id: string, filename = 'a.jsonl') => ({
  id,
  tenant: 'acme',
  purpose: 'batch',
  filename,
  bytes: 1,
  createdAtMs: 1,
  blobKey: `files/${id}`,
  sha256: 's',
});

describe('SQLite, write-locked by an outsider', () => {
  it('is waited for off the event loop, which turns meanwhile; then the write goes through', async () => {
    outsider.exec('BEGIN IMMEDIATE');
    let written = false;
    const writing = files.create(file('f1') as never).then(() => (written = true));
    // Each turn of the loop is one that a busy wait would have taken away.
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setTimeout(resolve, 1));
    expect(written).toBe(false);
    outsider.exec('COMMIT');
    await writing;
    expect(await files.find('acme', 'f1')).toMatchObject({ id: 'f1' });
  });

  it('fails writes with storage_unavailable and a Retry-After; later ones do not wait again; it recovers', async () => {
    outsider.exec('BEGIN IMMEDIATE');
    const ends = await Promise.allSettled([
      files.create(file('f1') as never),
      files.create(file('f2') as never),
    ]);
    for (const end of ends)
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
    outsider.exec('COMMIT');
    await files.create(file('f3') as never);
    expect(await files.find('acme', 'f3')).toBeDefined();
  });
});

describe('SQLite without room', () => {
  it('says so also when the disk fills up within a transaction, which SQLite then ends by itself', async () => {
    const { page_count: pages } = outsider.prepare('PRAGMA page_count').get() as {
      page_count: number;
    };
    await sql`PRAGMA max_page_count = ${sql.lit(pages)}`.execute(database.db);
    const large = sql`create table large as select ${'a'.repeat(100_000)} as text`;
    const writing = database.db.transaction().execute(db => large.execute(db));
    await expect(writing).rejects.toMatchObject({ code: 'storage_full' });
  });
});

describe('text that PostgreSQL cannot store', () => {
  it.each(['a\0b', 'a\ud800b'])(
    'is refused as invalid_value before any database sees it: %j',
    async text => {
      await expect(files.find('acme', text)).rejects.toMatchObject({ code: 'invalid_value' });
      await expect(files.create(file('f1', text) as never)).rejects.toMatchObject({
        code: 'invalid_value',
      });
      expect(await files.find('acme', 'f1')).toBeUndefined();
    },
  );

  it('is not a whole pair, nor anything else', async () => {
    await files.create(file('f1', '😀 \u0001.wav') as never);
    expect(await files.find('acme', 'f1')).toMatchObject({ filename: '😀 \u0001.wav' });
  });
});

describe('a statement that is wrong', () => {
  it('is a mistake of ours, and no outage', async () => {
    const mistaken = sql`SELECT * FROM nothing_like_it`.execute(database.db);
    await expect(mistaken).rejects.not.toMatchObject({ code: 'storage_unavailable' });
    await expect(mistaken).rejects.toThrow('nothing_like_it');
  });
});
