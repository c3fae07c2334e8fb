import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import type {
  AbortableOperationOptions,
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
} from 'kysely';
import { DomainError } from '../../core/errors/domain-error.js';
import { storageUnavailable } from '../http/passing-errors.js';
import { isOutage } from '../storage/storage-problems.js';
import { cellOf } from './record-rows.js';

/** How long writers together wait for another process's lock on SQLite. */
const LOCKED_MS = 5000;
const PAUSES = { firstMs: 2, longestMs: 50 };

/**
 * The one place where a database that is away, locked, frozen, read-only or full becomes
 * a `DomainError` that says so: every store, and so every route and hook, gets
 * `storage_unavailable` (503, to be tried again) or `storage_full`. What a query itself
 * did wrong passes as it is.
 */
export function guarded(dialect: Dialect): Dialect {
  const create = dialect.createDriver.bind(dialect);
  return Object.assign(dialect, { createDriver: () => guardDriver(create()) });
}

/** Drivers run everything, the steps of transactions included, as queries. */
function guardDriver(driver: Driver): Driver {
  const guard = lockGuard();
  const known = new WeakSet<DatabaseConnection>();
  const acquire = driver.acquireConnection.bind(driver);
  const begin = driver.beginTransaction.bind(driver);
  driver.acquireConnection = async options => {
    const connection = await guard(() => acquire(options));
    if (!known.has(connection)) guardConnection(connection, guard);
    known.add(connection);
    return connection;
  };
  // A `begin` that timed out may still be executed: what the connection wrote later would
  // look committed and be rolled back. The roll-back ends that transaction, or fails,
  // which discards the connection.
  driver.beginTransaction = async (connection, settings) => {
    try {
      await begin(connection, settings);
    } catch (error) {
      await driver.rollbackTransaction(connection).catch(() => undefined);
      throw error;
    }
  };
  return driver;
}

function guardConnection(connection: DatabaseConnection, guard: ReturnType<typeof lockGuard>) {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = async <R>(
    query: CompiledQuery,
    options?: AbortableOperationOptions,
  ) => {
    const parameters = query.parameters.map(cellOf);
    assertStorable(parameters);
    return guard(() => execute<R>({ ...query, parameters }, options));
  };
}

/** Tries again while another process has the lock of the SQLite file. */
function lockGuard() {
  // Since when it has been locked; those that come later do not wait anew.
  let lockedSinceMs: number | undefined;
  return async <T>(act: () => Promise<T>): Promise<T> => {
    for (let failures = 1; ; failures++) {
      try {
        const result = await act();
        lockedSinceMs = undefined;
        return result;
      } catch (error) {
        if (sqliteCode(error) !== SQLITE_BUSY) throw worded(error);
        lockedSinceMs ??= performance.now();
        if (performance.now() - lockedSinceMs >= LOCKED_MS) throw worded(error);
      }
      // Off the event loop: the rest of the process continues.
      await pause(backoffMs(failures, PAUSES));
    }
  };
}

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLSTATE_FULL = '53100';

/** The database says that its disk has no room. */
const isFullDatabase = (error: unknown) =>
  sqliteCode(error) === SQLITE_FULL || (error as { code?: unknown } | null)?.code === SQLSTATE_FULL;

/** Extended codes carry the plain one in their low byte. */
function sqliteCode(error: unknown) {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/**
 * PostgreSQL stores no NUL and no half of a surrogate pair. SQLite does, and both are to
 * answer alike. Ids, names and filenames of callers all come this way.
 */
const UNSTORABLE = /\0|\p{Surrogate}/u;

function assertStorable(parameters: readonly unknown[]) {
  if (!parameters.some(value => typeof value === 'string' && UNSTORABLE.test(value))) return;
  throw new DomainError(
    'invalid_value',
    'Ids, names and filenames must be text without NUL and without lone surrogates.',
  );
}

function worded(cause: unknown): unknown {
  if (cause instanceof DomainError) return cause;
  if (isFullDatabase(cause))
    return new DomainError('storage_full', 'The disk of the database is full.', {
      cause,
    });
  if (!isOutage(cause)) return cause;
  return storageUnavailable('The database does not answer or takes no writes now.', cause);
}
