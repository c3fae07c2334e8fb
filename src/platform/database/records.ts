import { type Insertable } from 'kysely';
import { camelCase } from '../config/model-spec.js';
import { type Columns, type ColumnType, type TableOf } from './schema.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The row of a record, whose fields are named as the columns in camel case. An absent
 * field is NULL.
 */
export function rowOf<C extends Columns>(
  columns: C,
  record: object,
): Insertable<TableOf<C>> {
  const stored = Object.entries(columns).filter(([, type]) => type !== 'counter');
  const row = stored.map(([column, type]) => [
    column,
    cellOf(type, (record as Fields)[camelCase(column)]),
  ]);
  return Object.fromEntries(row) as Insertable<TableOf<C>>;
}

function cellOf(type: ColumnType, value: unknown): unknown {
  if (value === undefined) return null;
  if (type.startsWith('json')) return JSON.stringify(value);
  return type === 'flag' ? Number(value) : value;
}

/** The record of a row. A field that is NULL is absent. */
export function recordOf<T>(columns: Columns, row: object): T {
  const fields = Object.entries(columns).flatMap(([column, type]) => {
    const value = (row as Fields)[column];
    return value === null ? [] : [[camelCase(column), valueOf(type, value)] as const];
  });
  return Object.fromEntries(fields) as T;
}

function valueOf(type: ColumnType, cell: unknown): unknown {
  if (type.startsWith('json')) return JSON.parse(String(cell));
  return type === 'flag' ? cell === 1 : cell;
}
