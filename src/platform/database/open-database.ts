import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Dialect,
  Kysely,
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import { StartError } from '../config/start-error.js';
import { guarded } from './guarded-dialect.js';
import { MIGRATIONS } from './migrations.js';
import { type Database } from './schema.js';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type pg from 'pg';

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
 * Postgres by URL; a lost connection is replaced by the pool, and a query that cannot get
 * one fails after 5 s.
 */
export const postgresDialect = (
  url: string,
  limits: Partial<typeof QUERY_LIMITS> = {},
): PostgresDialect => new PostgresDialect({ pool: () => postgresPool(url, limits) });

/**
 * SQLite, the default, does without the client of Postgres: it is loaded with
 * the first query.
 */
async function postgresPool(
  url: string,
  limits: Partial<typeof QUERY_LIMITS>,
): Promise<pg.Pool> {
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
  pool
    .on('error', () => undefined)
    .on('connect', client => client.on('error', () => undefined));
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
 * Node's own SQLite in the data folder, shared by the gateway and local batch processors
 * (D-13). WAL: readers never wait. FULL: what was answered survives a power cut.
 */
class NodeSqliteDialect extends SqliteDialect {
  readonly #open: () => Promise<NodeSqlite>;

  constructor(file: string) {
    const open = () => Promise.resolve(new NodeSqlite(file));
    super({ database: open });
    this.#open = open;
  }

  override createDriver(): Driver {
    return new ImmediateDriver({ database: this.#open });
  }
}

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

class NodeSqlite {
  readonly #database: DatabaseSync;
  /** Queries are few and fixed: each is compiled once. */
  readonly #statements = new Map<string, Statement>();

  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#database = new DatabaseSync(file);
    this.#database.exec(
      `PRAGMA busy_timeout = ${OPENING_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;`,
    );
    this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  }

  prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = new Statement(this.#database.prepare(sql));
    this.#statements.set(sql, statement);
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}

/** What Kysely expects of a statement. */
class Statement {
  readonly reader: boolean;

  constructor(private readonly statement: StatementSync) {
    this.reader = statement.columns().length > 0;
  }

  all(parameters: readonly unknown[]): unknown[] {
    return this.statement.all(...(parameters as SQLInputValue[]));
  }

  run(parameters: readonly unknown[]): {
    changes: number | bigint;
    lastInsertRowid: number | bigint;
  } {
    return this.statement.run(...(parameters as SQLInputValue[]));
  }

  iterate(parameters: readonly unknown[]): IterableIterator<unknown> {
    return this.statement.iterate(...(parameters as SQLInputValue[]));
  }
}

/** The connection of this process; Nest injects it by this type. */
export abstract class OpenDatabase {
  abstract readonly db: Kysely<Database>;
  abstract readonly dialect: 'sqlite' | 'postgres';
  abstract readonly url: string;
}

/** Two processes that migrate at the same time get in each other's way for so long. */
const RETRIES_MS = 1000;

/** @param url `postgres://…`, or the path of a SQLite file */
export function connectDatabase(url: string): OpenDatabase {
  const dialect: 'sqlite' | 'postgres' = /^postgres(ql)?:\/\//.test(url)
    ? 'postgres'
    : 'sqlite';
  const db = open(
    dialect === 'postgres'
      ? postgresDialect(url, QUERY_LIMITS)
      : new NodeSqliteDialect(url),
  );
  return { db, dialect, url };
}

const open = (dialect: Dialect) => new Kysely<Database>({ dialect: guarded(dialect) });

/**
 * Brings the schema up to date. Two processes may do so at the same time: the later one
 * waits, or tries again, and finds it done. PostgreSQL: on a connection of its own
 * without time limits, since an index over millions of rows takes minutes.
 * @throws StartError with the cause and the repair
 */
export async function migrate(
  { db, dialect, url }: OpenDatabase,
  migrations = MIGRATIONS,
): Promise<void> {
  const migrating = dialect === 'sqlite' ? db : open(postgresDialect(url));
  try {
    await migrateWith(migrating, migrations);
  } catch (cause) {
    const repair =
      dialect === 'sqlite' ? `${url}: ${MOVE_AWAY}` : `database.url: ${CORRECT}`;
    throw new StartError(
      `The database cannot be used: ${fullErrorMessage(cause)}.\n${repair}`,
      { cause },
    );
  } finally {
    if (migrating !== db) await migrating.destroy();
  }
}

const MOVE_AWAY =
  'restore this file from a backup, or move it away; without it an empty database is made.';

const CORRECT =
  'start PostgreSQL there or correct the address; the account must be allowed to create tables.';

async function migrateWith(
  db: Kysely<Database>,
  migrations: Readonly<Record<string, Migration>>,
) {
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
