import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import {
  type Dialect,
  Kysely,
  CompiledQuery,
  type DatabaseConnection,
  PostgresDialect,
  sql,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type pg from 'pg';
import { StartError } from '../config/start-error.js';
import { guarded } from './guarded-dialect.js';
import { MIGRATIONS } from './migrations.js';
import { RecordRows } from './record-rows.js';
import { type Database } from './schema.js';

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
    ...limits,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    idleTimeoutMillis: 30_000,
    application_name: 'switchyard',
    types,
  });
  // A connection that breaks, idle or lent out between two queries, must not end the
  // process: the pool drops it, and a query on it is refused.
  pool.on('error', () => undefined).on('connect', client => client.on('error', () => undefined));
  return pool;
}

/**
 * How long SQLite itself waits for another process's transaction, with the event loop;
 * the rest of the wait is the guard's.
 */
const BUSY_MS = 20;

/**
 * At the start no other request is served yet, and the switch to WAL needs
 * the file alone.
 */
const OPENING_MS = 10_000;

/**
 * Takes the write lock at once: a transaction that reads first and writes later could be
 * locked out halfway.
 */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /**
   * A full disk ends a transaction by itself: the error to report is that one, not that
   * nothing is left to end.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch((error: Error) => {
      if (!error.message.includes('no transaction is active')) throw error;
    });
  }
}

/**
 * Node's own SQLite in the data folder, shared by the gateway and local batch processors
 * (D-13). WAL: readers never wait. FULL: what was answered survives a power cut.
 */
function openSqlite(file: string): SqliteDatabase {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  makePrivate(file);
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA busy_timeout = ${OPENING_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;`,
  );
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // Queries are few and fixed: each is compiled once.
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare: sql => {
      const statement = statements.get(sql) ?? statementOf(database.prepare(sql));
      statements.set(sql, statement);
      return statement;
    },
    close: () => {
      statements.clear();
      database.close();
    },
  };
}

/**
 * What callers send is for this user alone, also in a folder that others may read. SQLite
 * gives its other files the mode of this one.
 */
function makePrivate(file: string): void {
  // Only where there is none: closing a file ends the locks that this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', PRIVATE));
  for (const each of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(each)) restrict(each);
}

/** A file of another user keeps the mode that its owner gave it. */
function restrict(file: string): void {
  try {
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, PRIVATE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

const PRIVATE = 0o600;

/** What Kysely expects of a statement. */
function statementOf(statement: StatementSync): SqliteStatement {
  const values = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: parameters => statement.all(...values(parameters)),
    run: parameters => statement.run(...values(parameters)),
    iterate: parameters => statement.iterate(...values(parameters)),
  };
}

function sqliteDialect(file: string): Dialect {
  const config = { database: () => Promise.resolve(openSqlite(file)) };
  return Object.assign(new SqliteDialect(config), {
    createDriver: () => new ImmediateDriver(config),
  });
}

/** Two processes that migrate at the same time get in each other's way for so long. */
const RETRIES_MS = 1000;

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
        : sqliteDialect(this.url);
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
   * waits, or tries again, and finds it done. PostgreSQL: on a connection of its own
   * without time limits, since an index over millions of rows takes minutes.
   * @throws StartError with the cause and the repair
   */
  async migrate(migrations = MIGRATIONS): Promise<void> {
    const migrating = this.dialect === 'sqlite' ? this.db : this.#open({});
    try {
      await migrateWith(migrating, migrations);
    } catch (cause) {
      const repair =
        this.dialect === 'sqlite' ? `${this.url}: ${MOVE_AWAY}` : `database.url: ${CORRECT}`;
      throw new StartError(`The database cannot be used: ${fullErrorMessage(cause)}.\n${repair}`, {
        cause,
      });
    } finally {
      if (migrating !== this.db) await migrating.destroy();
    }
  }
}

const MOVE_AWAY =
  'restore this file from a backup, or move it away; without it an empty database is made.';

const CORRECT =
  'start PostgreSQL there or correct the address; the account must be allowed to create tables.';

async function migrateWith(db: Kysely<Database>, migrations: Readonly<Record<string, Migration>>) {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  });
  const startMs = performance.now();
  for (let attempt = 1; ; attempt++) {
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return;
    if (performance.now() - startMs > RETRIES_MS) throw error as Error;
    await sleep(100 * attempt);
  }
}
