import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { CamelCasePlugin, type UnknownRow } from 'kysely';
import { type ColumnType, TABLES } from './schema.js';

/** Names of fields are unambiguous: a column that holds JSON in one table does in all. */
const TYPES = new Map<string, ColumnType>(
  Object.values(TABLES).flatMap(columns => Object.entries<ColumnType>(columns)),
);

/**
 * Rows are records: a column has the name of its field in snake case, JSON is read, and
 * what is NULL is absent.
 */
export class RecordRows extends CamelCasePlugin {
  protected override mapRow(row: UnknownRow): UnknownRow {
    const fields = Object.entries(row).flatMap(([column, cell]) => {
      const name = this.camelCase(column);
      return cell === null ? [] : [[name, valueOf(TYPES.get(name), cell)] as const];
    });
    return Object.fromEntries(fields);
  }
}

function valueOf(type: ColumnType | undefined, cell: unknown): unknown {
  if (type?.startsWith('json')) return parseBoundedJson(String(cell), STORED_BOUNDS);
  return type === 'flag' ? cell === 1 : cell;
}

/** The value of a field as both databases store it. */
export function cellOf(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' && value !== null ? writeJson(value) : value;
}
