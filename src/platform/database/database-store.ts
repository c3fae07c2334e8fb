import { Injectable } from '@nestjs/common';
import {
  type DeleteResult,
  type ExpressionBuilder,
  type FilterObject,
  InsertResult,
  type Kysely,
  type RawBuilder,
  sql,
  UpdateResult,
} from 'kysely';
import type { Page, PageRequest } from '../../core/jobs/job.ports.js';
import { OpenDatabase } from './open-database.js';
import { type Database, type TableName, TABLES } from './schema.js';

/** The columns of a table, without those that only its store reads. */
export const columnsOf = <T extends TableName, Hidden extends keyof Database[T] & string>(
  table: T,
  ...hidden: readonly Hidden[]
) =>
  Object.keys(TABLES[table]).filter(column => !hidden.includes(column as Hidden)) as Exclude<
    keyof Database[T] & string,
    Hidden
  >[];

/** What the stores of all tables share. */
@Injectable()
export abstract class DatabaseStore {
  protected readonly db: Kysely<Database>;
  /**
   * PostgreSQL locks rows; SQLite's transactions keep all other writers away.
   */
  protected readonly locksRows: boolean;

  /**
   * Unix milliseconds by the clock that all processes share, when the statement begins: it
   * may have waited long. Leases are compared with it, never with a process's own clock.
   */
  protected readonly now: RawBuilder<number>;

  constructor({ db, dialect }: OpenDatabase) {
    this.db = db;
    this.locksRows = dialect === 'postgres';
    this.now = this.locksRows
      ? sql`(extract(epoch from now()) * 1000)::bigint`
      : sql`cast(unixepoch('subsec') * 1000 as integer)`;
  }

  /** `now`, for what is not compared in a statement: what ends then, and what has ended. */
  async clockMs(): Promise<number> {
    const { nowMs } = await this.db.selectNoFrom(this.now.as('nowMs')).executeTakeFirstOrThrow();
    return Number(nowMs);
  }

  protected after(ms: number): RawBuilder<number> {
    return sql`${this.now} + ${ms}`;
  }

  /** The sum of the column `bytes`. */
  protected async bytesIn(table: 'files' | 'responses', tenant: string): Promise<number> {
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
  if (result instanceof InsertResult) return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
  return (result instanceof UpdateResult ? result.numUpdatedRows : result.numDeletedRows) > 0n;
}

/** Records with ids that grow with time. */
interface RecordsById<T> {
  where(column: 'id', operator: '<' | '>', id: string): RecordsById<T>;
  orderBy(column: 'id', direction: 'asc' | 'desc'): RecordsById<T>;
  limit(limit: number): RecordsById<T>;
  execute(): Promise<T[]>;
}

/**
 * One page, newest first unless asked otherwise. One row more than the limit is read: it
 * shows whether more follow.
 */
export async function pageOf<T>(
  records: RecordsById<T>,
  { order = 'desc', after, limit }: PageRequest,
): Promise<Page<T>> {
  const rest =
    after === undefined ? records : records.where('id', order === 'asc' ? '>' : '<', after);
  const found = await rest
    .orderBy('id', order)
    .limit(limit + 1)
    .execute();
  return { data: found.slice(0, limit), hasMore: found.length > limit };
}
