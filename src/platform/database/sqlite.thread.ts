import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** Data of the thread that owns the file of a SQLite database. */
export interface SqliteThreadData {
  readonly file: string;
  /** Run once, when the file is open. */
  readonly opening: string;
}

/** To the thread, which answers in order. Null: it closes the file and ends. */
export type SqliteQuestion = {
  readonly sql: string;
  readonly parameters: readonly unknown[];
} | null;

/** Errors cross as fields: a clone of an error loses its codes. */
export type SqliteAnswer =
  | { readonly rows: readonly unknown[]; readonly changes?: number | bigint }
  | {
      readonly error: {
        readonly message: string;
        readonly code?: string;
        readonly errcode?: number;
      };
    };

const PRIVATE = 0o600;

const port = parentPort;
if (port === null)
  throw new Error('This module is the entry of a thread; it cannot run on its own.');
const { file, opening } = workerData as SqliteThreadData;

let database: DatabaseSync | undefined;
/** Queries are few and fixed: each is compiled once. */
const statements = new Map<string, StatementSync>();

function opened(): DatabaseSync {
  if (database) return database;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  makePrivate(file);
  const made = new DatabaseSync(file);
  try {
    made.exec(opening);
  } catch (error) {
    made.close();
    throw error;
  }
  return (database = made);
}

/**
 * What callers send is for this user alone, also in a folder that others may read. SQLite
 * gives its other files the mode of this one.
 */
function makePrivate(path: string): void {
  // Only where there is none: closing a file ends the locks that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', PRIVATE));
  for (const each of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(each)) restrict(each);
}

/** A file of another user keeps the mode that its owner gave it. */
function restrict(path: string): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, PRIVATE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

function statementOf(sql: string): StatementSync {
  const known = statements.get(sql) ?? opened().prepare(sql);
  statements.set(sql, known);
  return known;
}

function answerTo({ sql, parameters }: NonNullable<SqliteQuestion>): SqliteAnswer {
  try {
    const statement = statementOf(sql);
    const values = parameters as SQLInputValue[];
    if (statement.columns().length > 0) return { rows: statement.all(...values) };
    return { rows: [], changes: statement.run(...values).changes };
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
    return { error: { message, code, errcode } };
  }
}

port.on('message', (question: SqliteQuestion) => {
  if (question) return port.postMessage(answerTo(question));
  statements.clear();
  database?.close();
  port.close();
});
