import {
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
} from 'kysely';
import { type Migration } from 'kysely/migration';
import {
  API_KEYS,
  AUDIT,
  BATCHES,
  type Columns,
  type ColumnType,
  type Database,
  ENDED_SESSIONS,
  FILES,
  RESPONSE_EVENTS,
  RESPONSES,
  STORED_REQUESTS,
  UPLOAD_PARTS,
  UPLOADS,
  USAGE,
  OUTBOX,
} from './schema.js';

/**
 * SQLite knows no `add column if not exists`: two processes may start at the same time.
 */
const added = (table: string, column: string, type: 'text' | 'bigint'): Migration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const tables = await db.introspection.getTables();
    const known = tables.find(({ name }) => name === table);
    if (known?.columns.some(({ name }) => name === column)) return;
    const count = type === 'bigint';
    await db.schema
      .alterTable(table)
      .addColumn(column, type, definition =>
        count ? definition.notNull().defaultTo(0) : definition,
      )
      .execute();
  },
});

/** Files, uploads, batches and the webhook outbox. */
export const jobsAndFiles: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await create(db, 'files', FILES);
    await index(db, 'files', 'files_by_tenant', ['tenant', 'id']);
    await index(db, 'files', 'files_by_expiry', ['expires_at_ms']);
    await index(db, 'files', 'files_by_blob', ['blob_key']);
    await create(db, 'uploads', UPLOADS);
    await create(db, 'upload_parts', UPLOAD_PARTS);
    await index(db, 'upload_parts', 'upload_parts_by_upload', ['upload_id']);
    await create(db, 'batches', BATCHES, table =>
      table.addUniqueConstraint('batches_idempotency', ['tenant', 'idempotency_key']),
    );
    await index(db, 'batches', 'batches_by_tenant', ['tenant', 'id']);
    await index(db, 'batches', 'batches_to_claim', ['status', 'lease_until_ms']);
    await index(db, 'batches', 'batches_by_input', ['input_file_id']);
    await create(db, 'webhook_outbox', OUTBOX);
    await index(db, 'webhook_outbox', 'webhook_outbox_due', ['due_at_ms']);
  },
};

/** Requests whose answers outlive their connections. */
const keptRequests: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await create(db, 'kept_requests', STORED_REQUESTS, table =>
      table.addPrimaryKeyConstraint('kept_requests_name', ['tenant', 'name']),
    );
    await index(db, 'kept_requests', 'kept_requests_by_id', ['request_id']);
    await index(db, 'kept_requests', 'kept_requests_by_owner', ['owner']);
    await index(db, 'kept_requests', 'kept_requests_by_lease', [
      'status',
      'lease_until_ms',
    ]);
    await index(db, 'kept_requests', 'kept_requests_by_expiry', ['expires_at_ms']);
  },
};

/** Which batch made a file, so that its holder can remove files that no result names. */
const filesOfBatches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await added('files', 'batch_id', 'text').up(db);
    await index(db, 'files', 'files_by_batch', ['batch_id', 'id']);
  },
};

/** Keys, usage and the audit log. */
const keysUsageAudit: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await create(db, 'api_keys', API_KEYS);
    await createVersion(db);
    await create(db, 'usage', USAGE, table =>
      table.addPrimaryKeyConstraint('usage_groups', ['day', 'tenant', 'key_id', 'model']),
    );
    await create(db, 'audit', AUDIT);
    await index(db, 'audit', 'audit_by_time', ['at_ms']);
  },
};

async function createVersion(
  db: Kysely<Pick<Database, 'api_key_version'>>,
): Promise<void> {
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

/** Stored responses and the events of those that run in the background. */
const responses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await create(db, 'responses', RESPONSES, table =>
      table.addPrimaryKeyConstraint('responses_id', ['tenant', 'id']),
    );
    await create(db, 'response_events', RESPONSE_EVENTS, table =>
      table.addPrimaryKeyConstraint('response_events_first', [
        'tenant',
        'response_id',
        'first_sequence',
      ]),
    );
    await index(db, 'responses', 'responses_by_expiry', ['expires_at_ms']);
    await index(db, 'responses', 'responses_by_status', ['status', 'created_at_ms']);
    await index(db, 'responses', 'responses_by_end_of_events', ['events_until_ms']);
  },
};

/** Sessions of the console that were signed out before they expired. */
const endedSessions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await create(db, 'ended_sessions', ENDED_SESSIONS);
    await index(db, 'ended_sessions', 'ended_sessions_ended_at_ms', ['ended_at_ms']);
    await index(db, 'ended_sessions', 'ended_sessions_expires_at_ms', ['expires_at_ms']);
  },
};

const bytesOfResponses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await added('responses', 'bytes', 'bigint').up(db);
    await index(db, 'responses', 'responses_by_tenant', ['tenant', 'bytes']);
  },
};

/** In the order they run. The names are stored in the database. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '001-jobs-and-files': jobsAndFiles,
  /** The trace that made a batch. */
  '002-batch-traceparent': added('batches', 'traceparent', 'text'),
  '003-kept-requests': keptRequests,
  '004-files-of-batches': filesOfBatches,
  '005-keys-usage-audit': keysUsageAudit,
  '006-responses': responses,
  /** Of the key that made a batch. */
  '007-batch-terms': added('batches', 'terms', 'text'),
  '008-ended-sessions': endedSessions,
  /** Gateways that were lost while they had it. */
  '009-losses-of-kept-requests': added('kept_requests', 'losses', 'bigint'),
  '010-bytes-of-responses': bytesOfResponses,
};

type NewTable = CreateTableBuilder<string, string>;

/** `if not exists`: two processes may start at the same time. */
async function create(
  db: Kysely<unknown>,
  name: string,
  columns: Columns,
  constrain = (table: NewTable): NewTable => table,
): Promise<void> {
  let table: NewTable = db.schema.createTable(name).ifNotExists();
  for (const [column, type] of Object.entries(columns)) {
    table = table.addColumn(column, isNumber(type) ? 'bigint' : 'text', made =>
      constrained(made, type),
    );
  }
  await constrain(table).execute();
}

const isNumber = (type: ColumnType): boolean => /^(bigint|flag|counter)/.test(type);

function constrained(
  column: ColumnDefinitionBuilder,
  type: ColumnType,
): ColumnDefinitionBuilder {
  if (type === 'key') return column.primaryKey();
  if (type.endsWith('?')) return column;
  const filled = column.notNull();
  if (type === 'counter') return filled.defaultTo(0);
  return type === 'unique' ? filled.unique() : filled;
}

const index = (
  db: Kysely<unknown>,
  table: string,
  name: string,
  columns: string[],
): Promise<void> =>
  db.schema.createIndex(name).ifNotExists().on(table).columns(columns).execute();
