import { Injectable } from '@nestjs/common';
import {
  type DeleteResult,
  type ExpressionBuilder,
  type FilterObject,
  type Insertable,
  InsertResult,
  type Kysely,
  UpdateResult,
} from 'kysely';
import type { Page, PageRequest } from '../../core/jobs/job.ports.js';
import { OpenDatabase } from './open-database.js';
import { type Database, type ColumnType, type TableName, TABLES } from './schema.js';
import { camelCase } from '../config/model-spec.js';

/**
 * The row of a record, whose fields are named as the columns in camel case. An absent
 * field is NULL.
 */
export function rowOf<T extends TableName>(
  table: T,
  record: object,
): Insertable<Database[T]> {
  const fields = record as Readonly<Record<string, unknown>>;
  const stored = columnsOf(table).filter(([, type]) => type !== 'counter');
  return Object.fromEntries(
    stored.map(([column, type]) => [column, cellOf(type, fields[camelCase(column)])]),
  ) as Insertable<Database[T]>;
}

const columnsOf = (table: TableName) => Object.entries<ColumnType>(TABLES[table]);

function cellOf(type: ColumnType, value: unknown): unknown {
  if (value === undefined) return null;
  if (type.startsWith('json')) return JSON.stringify(value);
  return type === 'flag' ? Number(value) : value;
}

/**
 * The record of a row. A field that is NULL is absent.
 * @param hidden columns that only the store itself reads
 */
export function recordOf<T>(
  table: TableName,
  row: object,
  hidden: readonly string[] = [],
): T {
  const cells = row as Readonly<Record<string, unknown>>;
  const fields = columnsOf(table).flatMap(([column, type]) => {
    const value = cells[column];
    return value === null || hidden.includes(column)
      ? []
      : [[camelCase(column), valueOf(type, value)] as const];
  });
  return Object.fromEntries(fields) as T;
}

function valueOf(type: ColumnType, cell: unknown): unknown {
  if (type.startsWith('json')) return JSON.parse(String(cell));
  return type === 'flag' ? cell === 1 : cell;
}

/** What the stores of all tables share. */
@Injectable()
export abstract class DatabaseStore {
  protected readonly db: Kysely<Database>;
  /**
   * PostgreSQL locks rows; SQLite's transactions keep all other writers away.
   */
  protected readonly locksRows: boolean;

  constructor({ db, dialect }: OpenDatabase) {
    this.db = db;
    this.locksRows = dialect === 'postgres';
  }

  /** The sum of the column `bytes`. */
  protected async bytesIn(
    table: 'files' | 'responses',
    tenant: string,
  ): Promise<number> {
    const { total } = await this.db
      .selectFrom(table as 'files')
      .select(row => row.fn.sum<number | string | null>('bytes').as('total'))
      .where('tenant', '=', tenant)
      .executeTakeFirstOrThrow();
    return Number(total ?? 0);
  }
}

/** Every column has that value. */
export const equals =
  <T extends keyof Database>(values: Readonly<FilterObject<Database, T>>) =>
  (row: ExpressionBuilder<Database, T>) =>
    row.and(values);

/** Executes an insertion, an update or a removal. False: it changed no row. */
export async function changesRows(query: {
  executeTakeFirst(): Promise<InsertResult | UpdateResult | DeleteResult>;
}): Promise<boolean> {
  const result = await query.executeTakeFirst();
  if (result instanceof InsertResult)
    return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
  return (
    (result instanceof UpdateResult ? result.numUpdatedRows : result.numDeletedRows) > 0n
  );
}

/** Rows with ids that grow with time. */
interface RowsById<Row> {
  where(column: 'id', operator: '<' | '>', id: string): RowsById<Row>;
  orderBy(column: 'id', direction: 'asc' | 'desc'): RowsById<Row>;
  limit(limit: number): RowsById<Row>;
  execute(): Promise<Row[]>;
}

/**
 * One page, newest first unless asked otherwise. One row more than the limit is read: it
 * shows whether more follow.
 */
export async function pageOf<Row, T>(
  rows: RowsById<Row>,
  { order = 'desc', after, limit }: PageRequest,
  read: (row: Row) => T,
): Promise<Page<T>> {
  const rest =
    after === undefined ? rows : rows.where('id', order === 'asc' ? '>' : '<', after);
  const found = await rest
    .orderBy('id', order)
    .limit(limit + 1)
    .execute();
  return { data: found.slice(0, limit).map(read), hasMore: found.length > limit };
}
