import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { MIGRATIONS } from '../../../src/platform/database/migrations.js';
import { OpenDatabase } from '../../../src/platform/database/open-database.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const folder = temporaryFolder();

describe('a database that a newer release wrote', () => {
  it('is said to be newer, in words that keep it: not corrupt, and nothing to move away', async () => {
    const url = join(folder, 'newer.db');
    const newer = new OpenDatabase(url);
    await newer.migrate({ ...MIGRATIONS, '999-of-tomorrow': { up: () => Promise.resolve() } });
    await newer.db.destroy();
    const database = new OpenDatabase(url);
    const error = await database.migrate().catch(({ message }: Error) => message);
    expect(error).toMatch(/written by a newer release: it has the migration 999-of-tomorrow/);
    expect(error).toMatch(/not damaged.*nothing was changed/);
    expect(error).not.toMatch(/corrupted|move it away|empty database/);
    await database.db.destroy();
  });
});

describe('a pooler before PostgreSQL', () => {
  let postgres: PostgresServer;
  beforeAll(async () => void (postgres = await PostgresServer.start()), 60_000);
  afterAll(() => postgres[Symbol.asyncDispose]());

  /** As pgbouncer does, but for its pools. */
  async function pooler(refused: RegExp) {
    const server = createServer(client => {
      const upstream = connect(postgres.port, '127.0.0.1');
      client.once('data', (start: Buffer) => {
        if (refused.test(start.toString('latin1'))) return void client.destroy();
        upstream.write(start);
        client.pipe(upstream);
      });
      upstream.pipe(client);
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  it('that refuses unknown parameters of the start is passed: they are set after connecting', async () => {
    const server = await pooler(/statement_timeout|lock_timeout|idle_in_transaction/);
    const { port } = server.address() as AddressInfo;
    const database = new OpenDatabase(`postgres://switchyard@127.0.0.1:${port}/postgres`);
    await database.migrate();
    const { rows } = await sql<{ name: string; setting: string }>`
      select name, setting from pg_settings
      where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
      order by name`.execute(database.db);
    expect(rows.map(({ setting }) => setting)).toEqual(['5000', '4000', '8000']);
    await database.db.destroy();
    server.close();
  });
});
