import { setTimeout as sleep } from 'node:timers/promises';
import { type Dialect, Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { guarded } from './guarded-dialect.js';
import { MIGRATIONS } from './migrations.js';
import { type Database } from './schema.js';
import { NodeSqliteDialect, postgresDialect, QUERY_LIMITS } from './dialects.js';

/** Which SQL is spoken, for the few words that differ. */
export type DialectName = 'sqlite' | 'postgres';

export interface OpenDatabase {
  readonly db: Kysely<Database>;
  readonly dialect: DialectName;
  readonly url: string;
}

const ATTEMPTS = 5;

/** @param url `postgres://…`, or the path of a SQLite file */
export function connectDatabase(url: string): OpenDatabase {
  const dialect: DialectName = /^postgres(ql)?:\/\//.test(url) ? 'postgres' : 'sqlite';
  const db = open(dialect === 'postgres' ? postgresDialect(url, QUERY_LIMITS) : new NodeSqliteDialect(url));
  return { db, dialect, url };
}

const open = (dialect: Dialect): Kysely<Database> => new Kysely<Database>({ dialect: guarded(dialect) });

/**
 * Brings the schema up to date. Two processes may do so at the same time: the later one waits, or tries again, and
 * finds it done.
 * PostgreSQL: on a connection of its own without time limits, since an index over millions of rows takes minutes.
 */
export async function migrate({ db, dialect, url }: OpenDatabase, migrations = MIGRATIONS): Promise<void> {
  if (dialect === 'sqlite') return migrateWith(db, migrations);
  const patient = open(postgresDialect(url));
  try {
    await migrateWith(patient, migrations);
  } finally {
    await patient.destroy();
  }
}

async function migrateWith(db: Kysely<Database>, migrations: Readonly<Record<string, Migration>>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  for (let attempt = 1; ; attempt++) {
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return;
    if (attempt === ATTEMPTS) throw new Error('The database could not be brought up to date.', { cause: error });
    await sleep(100 * attempt);
  }
}
