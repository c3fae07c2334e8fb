import { sql } from 'kysely';
import { type AuditEntry } from '../../core/access/audit-entry.js';
import {
  USAGE_SUMS,
  type UsageGroup,
  usageGroupName,
  type UsageRow,
  type UsageSums,
} from '../../core/access/usage-row.js';
import { type Page, type PageRequest } from '../../core/jobs/job.ports.js';
import { snakeCase } from '../config/model-spec.js';
import { DatabaseStore, pageOf, recordOf, rowOf } from './database-store.js';
import { type Database } from './schema.js';

const columnOf = (name: keyof UsageSums | keyof UsageGroup) =>
  name === 'key' ? 'key_id' : (snakeCase(name) as keyof Database['usage']);

/** The table of usage, one row per day, tenant, key and model. */
export class UsageStore extends DatabaseStore {
  /** Adds all rows in one transaction, or none. Rows are written in one order, so that two gateways cannot wait for each other. */
  async add(rows: readonly UsageRow[]): Promise<void> {
    const ordered = rows
      .map(row => ({ row: rowOfUsage(row), name: usageGroupName(row) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    await this.db.transaction().execute(async db => {
      for (const { row } of ordered) {
        await db
          .insertInto('usage')
          .values(row)
          .onConflict(conflict =>
            conflict
              .columns(['day', 'tenant', 'key_id', 'model'])
              .doUpdateSet(({ eb }) =>
                Object.fromEntries(
                  USAGE_SUMS.map(name => [
                    columnOf(name),
                    eb(
                      eb.ref(`usage.${columnOf(name)}`),
                      '+',
                      row[columnOf(name)] as number,
                    ),
                  ]),
                ),
              ),
          )
          .execute();
      }
    });
  }

  /** Ordered by the groups, latest day first. */
  async sum({
    from,
    to,
    groupBy,
    tenant,
    limit,
  }: {
    /** First and last day, both included. */
    readonly from: string;
    readonly to: string;
    readonly groupBy: readonly (keyof UsageGroup)[];
    readonly tenant?: string;
    readonly limit: number;
  }): Promise<readonly (Partial<UsageGroup> & UsageSums)[]> {
    const columns = groupBy.map(name => columnOf(name));
    let query = this.db
      .selectFrom('usage')
      .select(columns)
      .select(
        USAGE_SUMS.map(name =>
          sql<number | string | null>`sum(${sql.ref(columnOf(name))})`.as(
            columnOf(name),
          ),
        ),
      )
      .where('day', '>=', from)
      .where('day', '<=', to)
      .$if(tenant !== undefined, query => query.where('tenant', '=', tenant!))
      .limit(limit);
    if (columns.length > 0) query = query.groupBy(columns);
    for (const column of columns)
      query = query.orderBy(column, column === 'day' ? 'desc' : 'asc');
    const rows = (await query.execute()) as Readonly<Record<string, unknown>>[];
    return rows
      .map(row => sumsOf(row, groupBy))
      .filter(sums => USAGE_SUMS.some(name => sums[name] > 0));
  }

  /** Removes days before `day`. */
  async removeBefore(day: string): Promise<void> {
    await this.db.deleteFrom('usage').where('day', '<', day).execute();
  }
}

const rowOfUsage = ({ day, tenant, key, model, ...sums }: UsageRow) =>
  ({
    day,
    tenant,
    key_id: key,
    model,
    ...Object.fromEntries(
      USAGE_SUMS.map(name => [columnOf(name), Math.round(sums[name])]),
    ),
  }) as Database['usage'];

function sumsOf(
  row: Readonly<Record<string, unknown>>,
  groupBy: readonly (keyof UsageGroup)[],
): Partial<UsageGroup> & UsageSums {
  const groups = groupBy.map(name => [name, String(row[columnOf(name)])]);
  const sums = USAGE_SUMS.map(name => [name, Number(row[columnOf(name)] ?? 0)]);
  return {
    ...Object.fromEntries(groups),
    ...Object.fromEntries(sums),
  } as Partial<UsageGroup> & UsageSums;
}

/** The audit log. Ids grow with time: newest first is by descending id. */
export class AuditStore extends DatabaseStore {
  async add(entry: AuditEntry): Promise<void> {
    await this.db
      .insertInto('audit')
      .values(rowOf('audit', { ...entry, keyId: entry.key }))
      .execute();
  }

  list(page: PageRequest): Promise<Page<AuditEntry>> {
    return pageOf(this.db.selectFrom('audit').selectAll(), page, row => {
      const { keyId: key, ...entry } = recordOf<AuditEntry & { readonly keyId: string }>(
        'audit',
        row,
      );
      return { ...entry, key };
    });
  }

  async removeBefore(atMs: number): Promise<void> {
    await this.db.deleteFrom('audit').where('at_ms', '<', atMs).execute();
  }
}
