import * as sqlite from 'node:sqlite';
import { StartError } from '../config/start-error.js';
import { MIGRATIONS } from './migrations.js';

const { DatabaseSync } = sqlite;

/** How long it waits for another process's transaction. */
const BUSY_MS = 10_000;
const PAGES_AT_ONCE = 256;
/** SQLite's result code. */
const BUSY = 5;

/**
 * The state of a SQLite file at one moment, while other processes write to it: a read
 * transaction, so that their writes neither change it nor begin it anew.
 */
export class SqliteSnapshot implements Disposable {
  readonly #source: sqlite.DatabaseSync;

  /** The moment is now. @throws StartError for a file that SQLite cannot read */
  constructor(file: string) {
    this.#source = new DatabaseSync(file, { timeout: BUSY_MS });
    try {
      this.#source.exec('begin; select count(*) from sqlite_schema');
    } catch (cause) {
      this.#source.close();
      throw new StartError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
    }
  }

  /** @param onPart hears from 0 to 1 how much is done */
  async copyTo(path: string, onPart: (share: number) => void): Promise<void> {
    await sqlite.backup(this.#source, path, {
      rate: PAGES_AT_ONCE,
      progress: ({ totalPages, remainingPages }) => onPart(1 - remainingPages / totalPages),
    });
  }

  /** The last migration that it has had. */
  get schema(): string {
    const found = this.#source.prepare('select max(name) as name from kysely_migration').get();
    return String(found?.name);
  }

  [Symbol.dispose](): void {
    this.#source.close();
  }
}

/**
 * True while another process has the database open, also where it does nothing. A file that
 * is no database is in use by none.
 */
export function isInUse(file: string): boolean {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // WAL can be left by the last connection only.
    database.exec('pragma journal_mode = delete');
    return false;
  } catch (error) {
    return (error as { errcode?: number }).errcode === BUSY;
  } finally {
    database.close();
  }
}

/** @param schema the last migration of a backup. @throws StartError where it is not known here */
export function demandKnownSchema(schema: string): void {
  if (schema in MIGRATIONS) return;
  throw new StartError(
    `The backup was made by a newer release: it has the migration ${schema}, which this release ` +
      'does not know. It is not damaged, and nothing was changed. Restore it with the newer release.',
  );
}
