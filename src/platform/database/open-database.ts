import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { guarded } from './guarded-dialect.js';
import { jobsAndFiles } from './migrations/001-jobs-and-files.js';
import { batchTraceparent } from './migrations/002-batch-traceparent.js';
import { keptRequests } from './migrations/003-kept-requests.js';
import { filesOfBatches } from './migrations/004-files-of-batches.js';
import { postgresDialect } from './postgres-dialect.js';
import { type Database } from './schema.js';
import { NodeSqliteDialect } from './sqlite-dialect.js';

/** Which SQL is spoken, for the few words that differ. */
export type DialectName = 'sqlite' | 'postgres';

export interface OpenDatabase {
  readonly db: Kysely<Database>;
  readonly dialect: DialectName;
}

const MIGRATIONS = {
  '001-jobs-and-files': jobsAndFiles,
  '002-batch-traceparent': batchTraceparent,
  '003-kept-requests': keptRequests,
  '004-files-of-batches': filesOfBatches,
};
const ATTEMPTS = 5;

/** @param url `postgres://…`, or the path of a SQLite file. */
export function connectDatabase(url: string): OpenDatabase {
  const dialect: DialectName = /^postgres(ql)?:\/\//.test(url) ? 'postgres' : 'sqlite';
  const db = new Kysely<Database>({
    dialect: guarded(dialect === 'postgres' ? postgresDialect(url) : new NodeSqliteDialect(url)),
  });
  return { db, dialect };
}

/** Brings the schema up to date. Two processes may do so at the same time: the later one tries again and finds it done. */
export async function migrate(db: Kysely<Database>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } });
  for (let attempt = 1; ; attempt++) {
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return;
    if (attempt === ATTEMPTS) throw new Error('The database could not be brought up to date.', { cause: error });
    await sleep(100 * attempt);
  }
}
