import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { CompiledQuery, type DatabaseConnection, type Driver, SqliteDialect, SqliteDriver } from 'kysely';

/** How long SQLite itself waits for another process's transaction, with the event loop; the rest of the wait is the guard's. */
const BUSY_MS = 20;
/** At the start nobody else is served yet, and the switch to WAL needs the file alone. */
const OPENING_MS = 10_000;

/**
 * Node's own SQLite in the data folder, shared by the gateway and local batch processors (D-13). WAL: readers never wait.
 * FULL: what was answered survives a power cut.
 */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #open: () => Promise<NodeSqlite>;

  constructor(file: string) {
    const open = (): Promise<NodeSqlite> => Promise.resolve(new NodeSqlite(file));
    super({ database: open });
    this.#open = open;
  }

  override createDriver(): Driver {
    return new ImmediateDriver({ database: this.#open });
  }
}

/** Takes the write lock at once: a transaction that reads first and writes later could find the door shut halfway. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

class NodeSqlite {
  readonly #database: DatabaseSync;
  /** Queries are few and fixed: each is compiled once. */
  readonly #statements = new Map<string, Statement>();

  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#database = new DatabaseSync(file);
    this.#database.exec(`PRAGMA busy_timeout = ${OPENING_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;`);
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

  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.statement.run(...(parameters as SQLInputValue[]));
  }

  iterate(parameters: readonly unknown[]): IterableIterator<unknown> {
    return this.statement.iterate(...(parameters as SQLInputValue[]));
  }
}
