import { PostgresDialect } from 'kysely';
import pg from 'pg';

/** int8: this project's whole numbers (instants, sizes, counts) stay far below 2^53. */
const INT8 = pg.types.builtins.INT8;

/** Time limits of what a request waits for. All in milliseconds. */
export const QUERY_LIMITS = {
  /** A query that is not answered by then fails: the server, or the way to it, is frozen. */
  query_timeout: 10_000,
  /** What the server ends by itself: a statement, the wait for a row that another session has locked. */
  statement_timeout: 8000,
  lock_timeout: 4000,
} as const;

/** A process that freezes in a transaction loses it, and with it the rows that others wait for. */
const IDLE_IN_TRANSACTION_MS = 5000;

/** Postgres by URL; a lost connection is replaced by the pool, and a query that cannot get one fails after 5 s. */
export function postgresDialect(url: string, limits: Partial<typeof QUERY_LIMITS> = {}): PostgresDialect {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
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
  // A connection that breaks, idle or lent out between two queries, must not end the process: the pool drops it, and a query
  // on it is refused.
  pool.on('error', () => undefined).on('connect', client => client.on('error', () => undefined));
  return new PostgresDialect({ pool });
}
