import { type CreateTableBuilder, type Kysely } from 'kysely';
import { type Migration } from 'kysely/migration';

export interface ApiKeysTable {
  id: string;
  name: string;
  tenant: string;
  /** JSON, as are `models` and `limits`. */
  scopes: string;
  models: string | null;
  limits: string | null;
  default_priority: string | null;
  sha256: string;
  prefix: string;
  replaced_sha256: string | null;
  replaced_until_ms: number | null;
  created_at_ms: number;
  expires_at_ms: number | null;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
}

/** One row, with id 1. */
export interface ApiKeyVersionTable {
  id: number;
  version: number;
}

export interface EndedSessionsTable {
  sha256: string;
  ended_at_ms: number;
  expires_at_ms: number;
}

export interface UsageTable {
  day: string;
  tenant: string;
  key_id: string;
  model: string;
  requests: number;
  completed: number;
  failed: number;
  cancelled: number;
  audio_ms: number;
  characters: number;
  input_tokens: number;
  output_tokens: number;
  device_ms: number;
}

export interface AuditTable {
  id: string;
  at_ms: number;
  tenant: string;
  key_id: string;
  action: string;
  target: string;
  detail: string;
  request_id: string;
  outcome: string;
}

/** Keys, usage and the audit log. `if not exists`: two processes may start at the same time. */
export const keysUsageAudit: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await keys(db);
    await usage(db);
    await audit(db);
  },
};

/** Sessions of the console that were signed out before they expired. */
export const endedSessions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('ended_sessions')
      .ifNotExists()
      .addColumn('sha256', 'text', column => column.primaryKey())
      .addColumn('ended_at_ms', 'bigint', column => column.notNull())
      .addColumn('expires_at_ms', 'bigint', column => column.notNull())
      .execute();
    for (const column of ['ended_at_ms', 'expires_at_ms'])
      await db.schema
        .createIndex(`ended_sessions_${column}`)
        .ifNotExists()
        .on('ended_sessions')
        .column(column)
        .execute();
  },
};

async function keys(db: Kysely<{ api_key_version: ApiKeyVersionTable }>): Promise<void> {
  await db.schema
    .createTable('api_keys')
    .ifNotExists()
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('name', 'text', column => column.notNull())
    .addColumn('tenant', 'text', column => column.notNull())
    .addColumn('scopes', 'text', column => column.notNull())
    .addColumn('models', 'text')
    .addColumn('limits', 'text')
    .addColumn('default_priority', 'text')
    .addColumn('sha256', 'text', column => column.notNull().unique())
    .addColumn('prefix', 'text', column => column.notNull())
    .addColumn('replaced_sha256', 'text')
    .addColumn('replaced_until_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', column => column.notNull())
    .addColumn('expires_at_ms', 'bigint')
    .addColumn('last_used_at_ms', 'bigint')
    .addColumn('revoked_at_ms', 'bigint')
    .execute();
  await db.schema
    .createTable('api_key_version')
    .ifNotExists()
    .addColumn('id', 'bigint', column => column.primaryKey())
    .addColumn('version', 'bigint', column => column.notNull())
    .execute();
  await db
    .insertInto('api_key_version')
    .values({ id: 1, version: 0 })
    .onConflict(conflict => conflict.doNothing())
    .execute();
}

async function usage(db: Kysely<unknown>): Promise<void> {
  const groups = ['day', 'tenant', 'key_id', 'model'];
  const counts = ['requests', 'completed', 'failed', 'cancelled'];
  const amounts = ['audio_ms', 'characters', 'input_tokens', 'output_tokens', 'device_ms'];
  const table: NewTable = db.schema.createTable('usage').ifNotExists();
  await columns(columns(table, 'text', groups), 'bigint', [...counts, ...amounts])
    .addPrimaryKeyConstraint('usage_groups', groups)
    .execute();
}

async function audit(db: Kysely<unknown>): Promise<void> {
  const table: NewTable = db.schema
    .createTable('audit')
    .ifNotExists()
    .addColumn('id', 'text', column => column.primaryKey());
  const texts = ['tenant', 'key_id', 'action', 'target', 'detail', 'request_id', 'outcome'];
  await columns(columns(table, 'bigint', ['at_ms']), 'text', texts).execute();
  await db.schema.createIndex('audit_by_time').ifNotExists().on('audit').columns(['at_ms']).execute();
}

type NewTable = CreateTableBuilder<string, string>;

const columns = (table: NewTable, type: 'text' | 'bigint', names: readonly string[]): NewTable =>
  names.reduce((made, name) => made.addColumn(name, type, column => column.notNull()), table);
