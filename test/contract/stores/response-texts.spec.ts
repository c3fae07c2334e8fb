import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { MIGRATIONS } from '../../../src/platform/database/migrations.js';
import { OpenDatabase } from '../../../src/platform/database/open-database.js';
import { ResponseRecordStore } from '../../../src/platform/database/response-store.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { responseRecord } from './response-store.contract.js';
import { newRequest } from './stored-request-store.contract.js';

const LARGE = JSON.stringify('x'.repeat(8_000_000));
const folder = temporaryFolder();

/** As the release before wrote it: texts are columns of the row. */
async function filled(database: OpenDatabase, count: number) {
  const before = Object.entries(MIGRATIONS).filter(([name]) => name < '012');
  await database.migrate(Object.fromEntries(before));
  for (const text of ['request', 'input', 'response'])
    await sql.raw(`alter table responses add column ${text} text`).execute(database.db);
  for (let at = 0; at < count; at++) {
    const row = { ...responseRecord(`resp_${at}`, { input: LARGE }), bytes: 1, eventsUntilMs: 9 };
    const request = at % 2 === 0 ? row.request : null;
    await database.db
      .insertInto('responses')
      .values({ ...row, request } as never)
      .execute();
  }
}

async function expectMoved(url: string) {
  const [mine, others] = [new OpenDatabase(url), new OpenDatabase(url)];
  await filled(mine, 6);
  await Promise.all([mine.migrate(), others.migrate()]);
  await others.migrate();
  const store = new ResponseRecordStore(others);
  const whole = responseRecord('resp_0', { input: LARGE });
  expect(await store.find(whole, 0)).toEqual(whole);
  const { request: _, ...ended } = responseRecord('resp_5', { input: LARGE });
  expect(await store.find(ended, 0)).toEqual(ended);
  expect(await store.begin({ tenant: 'acme', id: 'resp_4' })).toMatchObject({
    request: '{}',
    epoch: 1,
  });
  await Promise.all([mine.db.destroy(), others.db.destroy()]);
}

describe('texts of responses', () => {
  let postgres: PostgresServer;
  beforeAll(async () => void (postgres = await PostgresServer.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  it('of a filled database move into their own table, with two processes that start (SQLite)', () =>
    expectMoved(join(folder, 'filled.db')));

  it('so do those of PostgreSQL', () => expectMoved(postgres.url()));

  it('stay where they are while a gateway of the release before has a request; it loses nothing', async () => {
    const database = new OpenDatabase(join(folder, 'running.db'));
    await filled(database, 1);
    const requests = new StoredRequestStore(database);
    await requests.open(newRequest(), { owner: 'before', leaseMs: 60_000 });
    const refused = await database.migrate().catch((error: Error) => error);
    expect(refused).toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(/^A gateway of the version before.*\nStop all gateways/),
    });
    const { rows } = await sql`select input from responses`.execute(database.db);
    expect(rows).toEqual([{ input: LARGE }]);
    await requests.release('before');
    await database.migrate();
    const whole = responseRecord('resp_0', { input: LARGE });
    expect(await new ResponseRecordStore(database).find(whole, 0)).toEqual(whole);
    await database.db.destroy();
  });

  it('of 8 MB cost a poll, and an append of events, no more than short ones', async () => {
    const database = new OpenDatabase(join(folder, 'polled.db'));
    await database.migrate();
    const store = new ResponseRecordStore(database);
    const cpuMs = async (id: string, input: string) => {
      await store.create(responseRecord(id, { input }), []);
      const run = { tenant: 'acme', id, epoch: 0 };
      let first = 0;
      const polls = async () => {
        for (let at = 0; at < 100; at++) {
          await store.head(run, 0);
          await store.append([{ run, first: first++, events: ['{}'] }]);
        }
      };
      await polls();
      const before = process.cpuUsage();
      await polls();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    const short = await cpuMs('short', '[]');
    expect(await cpuMs('large', LARGE)).toBeLessThan(3 * short);
    await database.db.destroy();
  });
});
