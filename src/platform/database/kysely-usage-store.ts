import { type Kysely, sql } from 'kysely';
import {
  USAGE_SUMS,
  type UsageGroup,
  usageGroupName,
  type UsageQuery,
  type UsageRow,
  type UsageStore,
  type UsageSums,
} from '../../core/access/usage-store.port.js';
import { type UsageTable } from './access-tables.js';
import { type OpenDatabase } from './open-database.js';
import { type Database } from './schema.js';

const SUM_COLUMNS: Readonly<Record<keyof UsageSums, keyof UsageTable>> = {
  requests: 'requests',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  audioMs: 'audio_ms',
  characters: 'characters',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  deviceMs: 'device_ms',
};
const GROUP_COLUMNS: Readonly<Record<keyof UsageGroup, keyof UsageTable>> = {
  day: 'day',
  tenant: 'tenant',
  key: 'key_id',
  model: 'model',
};

/** The table of usage, one row per day, tenant, key and model. */
export class KyselyUsageStore implements UsageStore {
  readonly #db: Kysely<Database>;

  constructor({ db }: OpenDatabase) {
    this.#db = db;
  }

  /** Rows are written in one order, so that two gateways cannot wait for each other. */
  async add(rows: readonly UsageRow[]): Promise<void> {
    const ordered = rows
      .map(row => ({ row: rowOf(row), name: usageGroupName(row) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    await this.#db.transaction().execute(async db => {
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
                    SUM_COLUMNS[name],
                    eb(eb.ref(`usage.${SUM_COLUMNS[name]}`), '+', row[SUM_COLUMNS[name]] as number),
                  ]),
                ),
              ),
          )
          .execute();
      }
    });
  }

  async sum({ from, to, groupBy, tenant, limit }: UsageQuery): Promise<readonly (Partial<UsageGroup> & UsageSums)[]> {
    const columns = groupBy.map(name => GROUP_COLUMNS[name]);
    let query = this.#db
      .selectFrom('usage')
      .select(columns)
      .select(
        USAGE_SUMS.map(name => sql<number | string | null>`sum(${sql.ref(SUM_COLUMNS[name])})`.as(SUM_COLUMNS[name])),
      )
      .where('day', '>=', from)
      .where('day', '<=', to)
      .$if(tenant !== undefined, query => query.where('tenant', '=', tenant!))
      .limit(limit);
    if (columns.length > 0) query = query.groupBy(columns);
    for (const column of columns) query = query.orderBy(column, column === 'day' ? 'desc' : 'asc');
    const rows = (await query.execute()) as Readonly<Record<string, unknown>>[];
    return rows.map(row => sumsOf(row, groupBy)).filter(sums => USAGE_SUMS.some(name => sums[name] > 0));
  }

  async removeBefore(day: string): Promise<void> {
    await this.#db.deleteFrom('usage').where('day', '<', day).execute();
  }
}

const rowOf = ({ day, tenant, key, model, ...sums }: UsageRow): UsageTable => {
  const columns = Object.fromEntries(USAGE_SUMS.map(name => [SUM_COLUMNS[name], Math.round(sums[name])]));
  return { day, tenant, model, key_id: key, ...columns } as UsageTable;
};

function sumsOf(
  row: Readonly<Record<string, unknown>>,
  groupBy: readonly (keyof UsageGroup)[],
): Partial<UsageGroup> & UsageSums {
  const groups = groupBy.map(name => [name, String(row[GROUP_COLUMNS[name]])]);
  const sums = USAGE_SUMS.map(name => [name, Number(row[SUM_COLUMNS[name]] ?? 0)]);
  return { ...Object.fromEntries(groups), ...Object.fromEntries(sums) } as Partial<UsageGroup> & UsageSums;
}
