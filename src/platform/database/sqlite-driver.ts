import { Worker } from 'node:worker_threads';
import { pause } from '@switchyard/engine-api/process/pause.js';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { type SqliteAnswer, type SqliteQuestion, type SqliteThreadData } from './sqlite.thread.js';

/** How long a shutdown waits for a disk that takes no writes. */
const CLOSE_MS = 2000;

const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './sqlite.thread.ts' : './sqlite.thread.js',
  import.meta.url,
);

interface Waiting {
  readonly resolve: (result: QueryResult<unknown>) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout | undefined;
}

/**
 * Node's own SQLite on a thread that owns the file (D-13): a disk that does not answer for
 * seconds holds up queries, and nothing else of this process. Kysely sends one query or
 * transaction after the other.
 */
export class SqliteDriver implements Driver {
  readonly #connection: DatabaseConnection = {
    executeQuery: <R>({ sql, parameters }: CompiledQuery) =>
      this.#ask({ sql, parameters }) as Promise<QueryResult<R>>,
    streamQuery: () => {
      throw new Error('no query is streamed');
    },
  };
  /** Calls that wait for the answer of the thread, oldest first. */
  #waiting: Waiting[] = [];
  #thread: Worker | undefined;
  #isLate = false;

  /**
   * @param answerMs a query that is not answered by then fails; until the thread answers
   *   again, further ones fail at once. Undefined: without limit
   */
  constructor(
    private readonly data: SqliteThreadData,
    private readonly answerMs: number | undefined,
  ) {}

  async init(): Promise<void> {
    // The thread opens the file with the first query.
  }

  acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve(this.#connection);
  }

  async releaseConnection(): Promise<void> {
    // There is one, for all.
  }

  /**
   * Takes the write lock at once: a transaction that reads first and writes later could be
   * locked out halfway.
   */
  async beginTransaction(
    connection: DatabaseConnection,
    _settings: TransactionSettings,
  ): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  /**
   * A full disk ends a transaction by itself: the error to report is that one, not that
   * nothing is left to end. Behind a query that is late it is not waited for.
   */
  async rollbackTransaction(): Promise<void> {
    const rolledBack = this.#post({ sql: 'rollback', parameters: [] }).catch((error: Error) => {
      if (!error.message.includes('no transaction is active')) throw error;
    });
    if (this.#isLate) rolledBack.catch(() => undefined);
    else await rolledBack;
  }

  async destroy(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    const ended = new AbortController();
    thread.once('exit', () => ended.abort());
    thread.postMessage(null satisfies SqliteQuestion);
    await pause(CLOSE_MS, ended.signal);
  }

  #ask(question: NonNullable<SqliteQuestion>): Promise<QueryResult<unknown>> {
    return this.#isLate ? Promise.reject(late()) : this.#post(question);
  }

  #post(question: NonNullable<SqliteQuestion>): Promise<QueryResult<unknown>> {
    const thread = (this.#thread ??= this.#start());
    const { promise, resolve, reject } = Promise.withResolvers<QueryResult<unknown>>();
    const expire = (): void => {
      this.#isLate = true;
      reject(late());
    };
    const timer = this.answerMs === undefined ? undefined : setTimeout(expire, this.answerMs);
    this.#waiting.push({ resolve, reject, timer });
    thread.ref();
    thread.postMessage(question);
    return promise;
  }

  #start(): Worker {
    const thread = new Worker(ENTRY, { name: 'sqlite', workerData: this.data });
    thread.on('message', (answer: SqliteAnswer) => this.#answered(answer));
    thread.on('error', (error: Error) => this.#ended(thread, error));
    thread.on('exit', () => this.#ended(thread, new Error('The thread of SQLite has ended.')));
    return thread;
  }

  #answered(answer: SqliteAnswer): void {
    this.#isLate = false;
    const asked = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#thread?.unref();
    if (!asked) return;
    clearTimeout(asked.timer);
    if ('error' in answer)
      return asked.reject(Object.assign(new Error(answer.error.message), answer.error));
    const { rows, changes } = answer;
    asked.resolve({
      rows: rows as unknown[],
      ...(changes !== undefined && { numAffectedRows: BigInt(changes) }),
    });
  }

  /** The next query starts another; what SQLite had not committed is rolled back. */
  #ended(thread: Worker, cause: Error): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#isLate = false;
    const gone = Object.assign(new Error(cause.message, { cause }), { code: 'EIO' });
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      reject(gone);
    }
  }
}

const late = (): Error =>
  Object.assign(new Error('SQLite does not answer in time: the disk stalls'), {
    code: 'ETIMEDOUT',
  });
