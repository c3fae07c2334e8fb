import { setTimeout as pause } from 'node:timers/promises';
import type {
  AbortableOperationOptions,
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
} from 'kysely';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { storageUnavailable } from '../http/passing-errors.js';
import { isFullDatabase, isLockedSqlite, isOutage } from '../storage/storage-problems.js';

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
  const guard = new Guard();
  const known = new WeakSet<DatabaseConnection>();
  const acquire = driver.acquireConnection.bind(driver);
  const begin = driver.beginTransaction.bind(driver);
  driver.acquireConnection = async options => {
    const connection = await guard.run(() => acquire(options));
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

function guardConnection(connection: DatabaseConnection, guard: Guard) {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = async <R>(
    query: CompiledQuery,
    options?: AbortableOperationOptions,
  ) => {
    assertStorable(query.parameters);
    return guard.run(() => execute<R>(query, options));
  };
}

class Guard {
  /**
   * Since when SQLite has been locked by another process; those that come later do
   * not wait anew.
   */
  #lockedSinceMs: number | undefined;

  async run<T>(act: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        const result = await act();
        this.#lockedSinceMs = undefined;
        return result;
      } catch (error) {
        if (!this.#mayRetry(error)) throw worded(error);
      }
      // Off the event loop: the rest of the process continues.
      await pause(backoffMs(failures, PAUSES));
    }
  }

  #mayRetry(error: unknown) {
    if (!isLockedSqlite(error)) return false;
    this.#lockedSinceMs ??= performance.now();
    return performance.now() - this.#lockedSinceMs < LOCKED_MS;
  }
}

/**
 * PostgreSQL stores no NUL and no half of a surrogate pair. SQLite does, and both are to
 * answer alike. Ids, names and filenames of callers all come this way.
 */
const UNSTORABLE = /\0|\p{Surrogate}/u;

function assertStorable(parameters: readonly unknown[]) {
  if (!parameters.some(value => typeof value === 'string' && UNSTORABLE.test(value)))
    return;
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
  return storageUnavailable(
    'The database does not answer or takes no writes now.',
    cause,
  );
}
