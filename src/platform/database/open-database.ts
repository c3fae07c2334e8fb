import { setTimeout as sleep } from 'node:timers/promises';
import { type Dialect, Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import { StartError } from '../config/start-error.js';
import { guarded } from './guarded-dialect.js';
import { MIGRATIONS } from './migrations.js';
import { type Database } from './schema.js';
import { NodeSqliteDialect, postgresDialect, QUERY_LIMITS } from './dialects.js';

/** Which SQL is spoken, for the few words that differ. */
type DialectName = 'sqlite' | 'postgres';

export interface OpenDatabase {
  readonly db: Kysely<Database>;
  readonly dialect: DialectName;
  readonly url: string;
}

/** Two processes that migrate at the same time get in each other's way for so long. */
const RETRIES_MS = 1000;

/** @param url `postgres://…`, or the path of a SQLite file */
export function connectDatabase(url: string): OpenDatabase {
  const dialect: DialectName = /^postgres(ql)?:\/\//.test(url) ? 'postgres' : 'sqlite';
  const db = open(
    dialect === 'postgres'
      ? postgresDialect(url, QUERY_LIMITS)
      : new NodeSqliteDialect(url),
  );
  return { db, dialect, url };
}

const open = (dialect: Dialect): Kysely<Database> =>
  new Kysely<Database>({ dialect: guarded(dialect) });

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
): Promise<void> {
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
