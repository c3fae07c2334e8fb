import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import { FileStore, UploadStore } from '../../../src/platform/database/file-store.js';
import { JobClaims } from '../../../src/platform/database/job-claims.js';
import { JobStore } from '../../../src/platform/database/job-store.js';
import { KeyStore } from '../../../src/platform/database/key-store.js';
import { MIGRATIONS } from '../../../src/platform/database/migrations.js';
import { OpenDatabase } from '../../../src/platform/database/open-database.js';
import { ResponseRecordStore } from '../../../src/platform/database/response-store.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import { UsageStore, AuditStore } from '../../../src/platform/database/usage-store.js';
import { WebhookOutbox } from '../../../src/platform/database/webhook-outbox.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { accessStoresContract } from './access-stores.contract.js';
import { batchJob, TENANT } from './batch-fixtures.js';
import { fileStoreContract } from './file-store.contract.js';
import { jobStoreContract } from './job-store.contract.js';
import { responseStoreContract } from './response-store.contract.js';
import { keptRequestStoreContract } from './stored-request-store.contract.js';

const TABLES = [
  ...(['files', 'uploads', 'upload_parts', 'batches', 'webhook_outbox', 'kept_requests'] as const),
  ...(['api_keys', 'usage', 'audit', 'responses', 'response_events', 'response_texts'] as const),
];

const FIRST = '001-jobs-and-files';

/** Two connections to one database, as two processes have. */
class Rig {
  private constructor(
    readonly mine: OpenDatabase,
    readonly others: OpenDatabase,
  ) {}

  static async open(url: string): Promise<Rig> {
    const rig = new Rig(new OpenDatabase(url), new OpenDatabase(url));
    await Promise.all([rig.mine.migrate(), rig.others.migrate()]);
    return rig;
  }

  async fresh() {
    for (const table of TABLES) await this.mine.db.deleteFrom(table).execute();
    return {
      jobs: new JobStore(this.mine),
      claims: new JobClaims(this.mine),
      others: new JobStore(this.others),
      othersClaims: new JobClaims(this.others),
      outbox: new WebhookOutbox(this.mine),
      files: new FileStore(this.mine),
      kept: new StoredRequestStore(this.mine),
      othersKept: new StoredRequestStore(this.others),
      responses: new ResponseRecordStore(this.mine),
      othersResponses: new ResponseRecordStore(this.others),
      uploads: new UploadStore(this.others),
      keys: new KeyStore(this.mine),
      othersKeys: new KeyStore(this.others),
      usage: new UsageStore(this.mine),
      othersUsage: new UsageStore(this.others),
      audit: new AuditStore(this.others),
    };
  }

  async close(): Promise<void> {
    await this.mine.db.destroy();
    await this.others.db.destroy();
  }
}

function storesOn(open: () => Promise<Rig>) {
  let rig: Rig;
  beforeAll(async () => {
    rig = await open();
  });
  afterAll(() => rig.close());

  describe('job table', () => jobStoreContract(() => rig.fresh()));
  describe('file table', () => fileStoreContract(() => rig.fresh()));
  describe('table of stored requests', () => keptRequestStoreContract(() => rig.fresh()));
  describe('tables of responses', () => responseStoreContract(() => rig.fresh()));
  describe('tables of keys, usage and audit', () =>
    accessStoresContract(async () => {
      const { othersKeys: others, ...stores } = await rig.fresh();
      return { ...stores, others };
    }));
  it('is brought up to date by many at once, and again', async () => {
    await Promise.all([rig.mine.migrate(), rig.others.migrate(), rig.mine.migrate()]);
    expect(await rig.mine.db.selectFrom('files').selectAll().execute()).toEqual([]);
  });
}

describe('SQLite', () => {
  const folder = temporaryFolder();
  storesOn(() => Rig.open(join(folder, 'made', 'switchyard.db')));

  it('that knows the first migration only keeps its rows when it is brought up to date', async () => {
    const database = new OpenDatabase(join(folder, 'old.db'));
    await database.migrate({ [FIRST]: MIGRATIONS[FIRST]! });
    const job = batchJob();
    const { counts, webhook: _, ...columns } = job;
    await database.db
      .insertInto('batches')
      .values({ ...columns, ...counts })
      .execute();
    await database.migrate();
    expect(await new JobStore(database).find(TENANT, job.id)).toEqual(job);
    await database.db.destroy();
  });
});

describe('PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 60_000);
  afterAll(() => server[Symbol.asyncDispose]());
  storesOn(() => Rig.open(server.url()));

  it('bounds the time of queries, and of no migration: one over millions of rows takes minutes', async () => {
    const database = new OpenDatabase(server.createDatabase('migrations'));
    const limits = (db: Kysely<never>) =>
      sql<{ name: string; setting: string }>`
        select name, setting from pg_settings where name in ('statement_timeout', 'lock_timeout')
        order by name`.execute(db);
    const seen: string[] = [];
    const look = async (db: Kysely<never>) =>
      void seen.push(...(await limits(db)).rows.map(({ setting }) => setting));
    await database.migrate({ ...MIGRATIONS, '999-limits': { up: look } });
    await look(database.db as never);
    expect(seen).toEqual(['0', '0', '4000', '8000']);
    await database.db.destroy();
  });

  it('keeps what is written after a transaction whose begin timed out: 0 of 4 writes are rolled back later', async () => {
    const url = server.createDatabase('frozen');
    const limits = { query_timeout: 200, statement_timeout: 0, lock_timeout: 0 };
    const { db } = new OpenDatabase(url, limits);
    const observer = new OpenDatabase(url);
    await observer.migrate();
    await Promise.all([1, 2, 3, 4].map(() => sql`select pg_sleep(0.1)`.execute(db)));
    server.freeze();
    const begun = [1, 2, 3, 4].map(() => db.transaction().execute(() => Promise.resolve()));
    const refused = await Promise.allSettled(begun);
    server.thaw();
    expect(refused.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    const write = (id: string) =>
      sql`insert into upload_parts (id, upload_id, blob_key, bytes, created_at_ms) values (${id}, '', '', 0, 0)`;
    const ids = ['a', 'b', 'c', 'd'];
    await Promise.all(ids.map(id => write(id).execute(db)));
    const { rows } = await sql<{
      id: string;
    }>`select id from upload_parts order by id`.execute(observer.db);
    expect(rows.map(({ id }) => id)).toEqual(ids);
    await db.destroy();
    await observer.db.destroy();
  });
});
