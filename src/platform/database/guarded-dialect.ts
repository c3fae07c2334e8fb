import { setTimeout as pause } from 'node:timers/promises';
import type {
  AbortableOperationOptions,
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  QueryResult,
  TransactionSettings,
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
export function guarded(inner: Dialect): Dialect {
  return {
    createAdapter: () => inner.createAdapter(),
    createIntrospector: db => inner.createIntrospector(db),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createDriver: () => new GuardedDriver(inner.createDriver()),
  };
}

class GuardedDriver implements Driver {
  readonly #guard = new Guard();

  constructor(private readonly inner: Driver) {}

  init(options?: AbortableOperationOptions): Promise<void> {
    return this.inner.init(options);
  }

  acquireConnection(options?: AbortableOperationOptions): Promise<DatabaseConnection> {
    return this.#guard.run(
      async () =>
        new GuardedConnection(await this.inner.acquireConnection(options), this.#guard),
    );
  }

  /**
   * A `begin` that timed out may still be executed: what the connection wrote later would
   * look committed and be rolled back. The roll-back ends that transaction, or fails,
   * which discards the connection.
   */
  async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    const inner = innerOf(connection);
    try {
      await this.#guard.run(() => this.inner.beginTransaction(inner, settings));
    } catch (error) {
      await this.inner.rollbackTransaction(inner).catch(() => undefined);
      throw error;
    }
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#guard.run(() => this.inner.commitTransaction(innerOf(connection)));
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#guard.run(() => this.inner.rollbackTransaction(innerOf(connection)));
  }

  releaseConnection(
    connection: DatabaseConnection,
    options?: AbortableOperationOptions,
  ): Promise<void> {
    return this.inner.releaseConnection(innerOf(connection), options);
  }

  destroy(options?: AbortableOperationOptions): Promise<void> {
    return this.inner.destroy(options);
  }
}

class GuardedConnection implements DatabaseConnection {
  constructor(
    readonly inner: DatabaseConnection,
    private readonly guard: Guard,
  ) {}

  async executeQuery<R>(
    query: CompiledQuery,
    options?: AbortableOperationOptions,
  ): Promise<QueryResult<R>> {
    assertStorable(query.parameters);
    return this.guard.run(() => this.inner.executeQuery<R>(query, options));
  }

  streamQuery<R>(
    query: CompiledQuery,
    chunkSize: number,
    options?: AbortableOperationOptions,
  ): AsyncIterableIterator<QueryResult<R>> {
    return this.inner.streamQuery<R>(query, chunkSize, options);
  }
}

const innerOf = (connection: DatabaseConnection) =>
  connection instanceof GuardedConnection ? connection.inner : connection;

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
