import { PostgresDialect } from 'kysely';
import pg from 'pg';

/** int8: this project's whole numbers (instants, sizes, counts) stay far below 2^53. */
const INT8 = pg.types.builtins.INT8;

/** Postgres by URL; a lost connection is replaced by the pool, and a query that cannot get one fails after 10 s. */
export function postgresDialect(url: string): PostgresDialect {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    application_name: 'switchyard',
    types,
  });
  // A connection that breaks, idle or lent out between two queries, must not end the process: the pool drops it, and a query
  // on it is refused.
  pool.on('error', () => undefined).on('connect', client => client.on('error', () => undefined));
  return new PostgresDialect({ pool });
}
