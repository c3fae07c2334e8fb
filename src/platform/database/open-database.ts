import { type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import {
  type Dialect,
  Kysely,
  PostgresDialect,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type pg from 'pg';
import { watchLink } from '../clock/link-watch.js';
import { StartError } from '../config/start-error.js';
import { guarded } from './guarded-dialect.js';
import { MIGRATIONS } from './migrations.js';
import { RecordRows } from './record-rows.js';
import { type Database } from './schema.js';
import { SqliteDriver } from './sqlite-driver.js';

/** Time limits of what a request waits for. All in milliseconds. */
const QUERY_LIMITS = {
  /**
   * A query that is not answered by then fails: the server, or the way to it, is frozen.
   */
  query_timeout: 10_000,
  /**
   * What the server ends by itself: a statement, the wait for a row that another
   * session has locked.
   */
  statement_timeout: 8000,
  lock_timeout: 4000,
};

/**
 * A process that freezes in a transaction loses it, and with it the rows that
 * others wait for.
 */
const IDLE_IN_TRANSACTION_MS = 5000;

const settingsOf = ({ statement_timeout = 0, lock_timeout = 0 }: Partial<typeof QUERY_LIMITS>) =>
  `set statement_timeout = ${statement_timeout}; set lock_timeout = ${lock_timeout}; ` +
  `set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`;

/**
 * A lost connection is replaced by the pool, and a query that cannot get one fails after
 * 5 s. SQLite, the default, does without the client of Postgres: it is loaded with the
 * first query.
 */
async function postgresPool(url: string, limits: Partial<typeof QUERY_LIMITS>): Promise<pg.Pool> {
  const { default: pg } = await import('pg');
  const types = new pg.TypeOverrides();
  // int8: this project's whole numbers (instants, sizes, counts) stay far below 2^53.
  types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    connectionTimeoutMillis: 5000,
    query_timeout: limits.query_timeout,
    idleTimeoutMillis: 30_000,
    application_name: 'switchyard',
    types,
    // Poolers refuse parameters of the start that they do not know.
    // Its type knows no promise; the pool waits for it.
    onConnect: client => client.query(settingsOf(limits)) as unknown as undefined,
  });
  // A connection that breaks, idle or lent out between two queries, must not end the
  // process: the pool drops it, and a query on it is refused.
  pool.on('error', () => undefined).on('connect', client => client.on('error', () => undefined));
  if (limits.query_timeout !== undefined) watchQueries(pool);
  return pool;
}

/** More than the server takes for a statement, less than a query waits. */
const SILENT_S = 9;

/**
 * A connection over which nothing comes although a query waits is dropped, and with it those
 * that are idle: each would cost a query its whole time.
 */
function watchQueries(pool: pg.Pool): void {
  const lent = new Set<pg.PoolClient>();
  const watches = new Map<pg.PoolClient, () => void>();
  const dropIdle = (): void => {
    for (const client of watches.keys()) if (!lent.has(client)) socketOf(client).destroy();
  };
  pool.on('connect', client => {
    const socket = () => (lent.has(client) ? socketOf(client) : undefined);
    watches.set(client, watchLink({ socket, lost: dropIdle, silentS: SILENT_S }));
  });
  pool.on('acquire', client => void lent.add(client));
  pool.on('release', (_, client) => void lent.delete(client));
  pool.on('remove', client => {
    watches.get(client)?.();
    watches.delete(client);
    lent.delete(client);
  });
}

/** The types of pg hide it. */
const socketOf = (client: pg.PoolClient): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

/**
 * How long SQLite itself waits for another process's transaction, and with it all queries
 * of this one; the rest of the wait is the guard's.
 */
const BUSY_MS = 20;

/**
 * At the start no other request is served yet, and the switch to WAL needs
 * the file alone.
 */
const OPENING_MS = 10_000;

/**
 * The data folder's file, shared by the gateway and local batch processors (D-13). WAL:
 * readers never wait. FULL: what was answered survives a power cut.
 */
function sqliteDialect(file: string, answerMs: number | undefined): Dialect {
  const opening =
    `PRAGMA busy_timeout = ${OPENING_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ` +
    `PRAGMA busy_timeout = ${BUSY_MS}`;
  return {
    createDriver: () => new SqliteDriver({ file, opening }, answerMs),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: db => new SqliteIntrospector(db),
  };
}

/** Two processes that migrate at the same time get in each other's way so often. */
const RETRIES = 4;

/**
 * A read-only server, such as a standby after a failover, answers, but nothing can be
 * stored in it.
 */
const WRITABLE = `do $$ begin
  if current_setting('transaction_read_only')::boolean then
    raise read_only_sql_transaction using message = 'the database is read-only';
  end if;
end $$`;

/** The connection of this process. */
export class OpenDatabase {
  readonly db: Kysely<Database>;
  readonly dialect: 'sqlite' | 'postgres';

  /** @param url `postgres://…`, or the path of a SQLite file */
  constructor(
    private readonly url: string,
    limits: Partial<typeof QUERY_LIMITS> = QUERY_LIMITS,
  ) {
    this.dialect = /^postgres(ql)?:\/\//.test(url) ? 'postgres' : 'sqlite';
    this.db = this.#open(limits);
  }

  #open(limits: Partial<typeof QUERY_LIMITS>): Kysely<Database> {
    const dialect =
      this.dialect === 'postgres'
        ? new PostgresDialect({ pool: () => postgresPool(this.url, limits) })
        : sqliteDialect(this.url, limits.query_timeout);
    return new Kysely<Database>({
      dialect: guarded(dialect),
      plugins: [new RecordRows()],
    });
  }

  /** Resolves when the database answers and can store. */
  async ping(): Promise<void> {
    const query = this.dialect === 'postgres' ? sql.raw(WRITABLE) : sql`select 1`;
    await query.execute(this.db);
  }

  /**
   * Brings the schema up to date. Two processes may do so at the same time: the later one
   * waits, or tries again, and finds it done. On a connection of its own
   * without time limits, since an index over millions of rows takes minutes.
   * @throws StartError with the cause and the repair
   */
  async migrate(migrations = MIGRATIONS): Promise<void> {
    const migrating = this.#open({});
    try {
      await migrateWith(migrating, migrations);
    } catch (cause) {
      if (cause instanceof StartError) throw cause;
      const newer = await newerThan(migrating, migrations);
      if (newer !== undefined) throw new StartError(ofNewerRelease(newer), { cause });
      const repair =
        this.dialect === 'sqlite' ? `${this.url}: ${MOVE_AWAY}` : `database.url: ${CORRECT}`;
      throw new StartError(`The database cannot be used: ${fullErrorMessage(cause)}.\n${repair}`, {
        cause,
      });
    } finally {
      await migrating.destroy();
    }
  }
}

const MOVE_AWAY =
  'nothing was changed in it. Restore it from a backup; if it holds nothing that you need, move it ' +
  'away, and an empty database is made.';

const CORRECT =
  'start PostgreSQL there or correct the address; the account must be allowed to create tables.';

const ofNewerRelease = (migration: string): string =>
  `The database was written by a newer release: it has the migration ${migration}, which this ` +
  'release does not know. It is not damaged, and nothing was changed in it.\nStart the newer ' +
  'release again, or restore the backup that was made before the upgrade (docs/operate/upgrade.md).';

/** A migration that the database has had and that is not known here. Never rejects. */
async function newerThan(
  db: Kysely<Database>,
  migrations: Readonly<Record<string, Migration>>,
): Promise<string | undefined> {
  const applied = sql<{ name: string }>`select name from kysely_migration order by name`;
  const { rows } = await applied.execute(db).catch(() => ({ rows: [] }));
  return rows.findLast(({ name }) => !(name in migrations))?.name;
}

async function migrateWith(db: Kysely<Database>, migrations: Readonly<Record<string, Migration>>) {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  });
  for (let attempt = 1; ; attempt++) {
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return;
    if (attempt > RETRIES) throw error as Error;
    await sleep(100 * attempt);
  }
}
