import { type AuditEntry } from '../../core/access/audit-entry.js';
import {
  USAGE_SUMS,
  type UsageGroup,
  usageGroupName,
  type UsageRow,
  type UsageSums,
} from '../../core/access/usage-row.js';
import { type Page, type PageRequest } from '../../core/jobs/job.ports.js';
import { DatabaseStore, pageOf } from './database-store.js';

/** The table of usage, one row per day, tenant, key and model. */
export class UsageStore extends DatabaseStore {
  /** Adds all rows in one transaction, or none. Rows are written in one order, so that two gateways cannot wait for each other. */
  async add(rows: readonly UsageRow[]): Promise<void> {
    const ordered = rows
      .map(row => ({ row, name: usageGroupName(row) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    await this.db.transaction().execute(async db => {
      for (const { row } of ordered) {
        const { day, tenant, key: keyId, model } = row;
        const sums = sumsFrom(name => Math.round(row[name]));
        await db
          .insertInto('usage')
          .values({ day, tenant, keyId, model, ...sums })
          .onConflict(conflict =>
            conflict
              .columns(['day', 'tenant', 'keyId', 'model'])
              .doUpdateSet(({ eb }) =>
                Object.fromEntries(
                  USAGE_SUMS.map(name => [name, eb(eb.ref(`usage.${name}`), '+', sums[name])]),
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
    const columns = groupBy.map(name => (name === 'key' ? 'keyId' : name));
    let query = this.db
      .selectFrom('usage')
      .select(groupBy.map(name => (name === 'key' ? 'keyId as key' : name)))
      .select(({ fn }) => USAGE_SUMS.map(name => fn.sum<number | string | null>(name).as(name)))
      .where('day', '>=', from)
      .where('day', '<=', to)
      .$if(tenant !== undefined, query => query.where('tenant', '=', tenant!))
      .limit(limit);
    if (columns.length > 0) query = query.groupBy(columns);
    for (const column of columns) query = query.orderBy(column, column === 'day' ? 'desc' : 'asc');
    const rows = await query.execute();
    return rows
      .map(row => ({ ...row, ...sumsFrom(name => Number(row[name] ?? 0)) }))
      .filter(row => USAGE_SUMS.some(name => row[name] > 0));
  }

  /** Removes days before `day`. */
  async removeBefore(day: string): Promise<void> {
    await this.db.deleteFrom('usage').where('day', '<', day).execute();
  }
}

const sumsFrom = (read: (name: keyof UsageSums) => number) =>
  Object.fromEntries(USAGE_SUMS.map(name => [name, read(name)])) as Record<keyof UsageSums, number>;

/** The audit log. Ids grow with time: newest first is by descending id. */
export class AuditStore extends DatabaseStore {
  async add(entry: AuditEntry): Promise<void> {
    await this.db.insertInto('audit').values(entry).execute();
  }

  list(page: PageRequest): Promise<Page<AuditEntry>> {
    return pageOf(this.db.selectFrom('audit').selectAll(), page);
  }

  async removeBefore(atMs: number): Promise<void> {
    await this.db.deleteFrom('audit').where('atMs', '<', atMs).execute();
  }
}
