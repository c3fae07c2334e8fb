import { type Kysely } from 'kysely';
import { type Migration } from 'kysely/migration';
import { endedSessions, keysUsageAudit } from './access-tables.js';
import { responses } from './response-tables.js';

/** Files, uploads, batches and the webhook outbox. `if not exists`: two processes may start at the same time. */
export const jobsAndFiles: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await files(db);
    await uploads(db);
    await batches(db);
    await outbox(db);
  },
};

async function files(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('files')
    .ifNotExists()
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('tenant', 'text', column => column.notNull())
    .addColumn('purpose', 'text', column => column.notNull())
    .addColumn('filename', 'text', column => column.notNull())
    .addColumn('bytes', 'bigint', column => column.notNull())
    .addColumn('created_at_ms', 'bigint', column => column.notNull())
    .addColumn('expires_at_ms', 'bigint')
    .addColumn('blob_key', 'text', column => column.notNull())
    .addColumn('sha256', 'text', column => column.notNull())
    .execute();
  await index(db, 'files_by_tenant', 'files', ['tenant', 'id']);
  await index(db, 'files_by_expiry', 'files', ['expires_at_ms']);
  await index(db, 'files_by_blob', 'files', ['blob_key']);
}

async function uploads(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('uploads')
    .ifNotExists()
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('tenant', 'text', column => column.notNull())
    .addColumn('purpose', 'text', column => column.notNull())
    .addColumn('filename', 'text', column => column.notNull())
    .addColumn('mime_type', 'text', column => column.notNull())
    .addColumn('bytes', 'bigint', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('created_at_ms', 'bigint', column => column.notNull())
    .addColumn('expires_at_ms', 'bigint', column => column.notNull())
    .addColumn('file_expires_after_s', 'bigint')
    .addColumn('file_id', 'text')
    .execute();
  await db.schema
    .createTable('upload_parts')
    .ifNotExists()
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('upload_id', 'text', column => column.notNull())
    .addColumn('blob_key', 'text', column => column.notNull())
    .addColumn('bytes', 'bigint', column => column.notNull())
    .addColumn('created_at_ms', 'bigint', column => column.notNull())
    .execute();
  await index(db, 'upload_parts_by_upload', 'upload_parts', ['upload_id']);
}

async function batches(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('batches')
    .ifNotExists()
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('tenant', 'text', column => column.notNull())
    .addColumn('endpoint', 'text', column => column.notNull())
    .addColumn('input_file_id', 'text', column => column.notNull())
    .addColumn('completion_window', 'text', column => column.notNull())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('created_at_ms', 'bigint', column => column.notNull())
    .addColumn('expires_at_ms', 'bigint', column => column.notNull())
    .addColumn('reached_at_ms', 'text', column => column.notNull())
    .addColumn('total', 'bigint', column => column.notNull())
    .addColumn('completed', 'bigint', column => column.notNull())
    .addColumn('failed', 'bigint', column => column.notNull())
    .addColumn('usage', 'text')
    .addColumn('model', 'text')
    .addColumn('problems', 'text', column => column.notNull())
    .addColumn('output_file_id', 'text')
    .addColumn('error_file_id', 'text')
    .addColumn('metadata', 'text', column => column.notNull())
    .addColumn('output_expires_after_s', 'bigint')
    .addColumn('retry_of', 'text')
    .addColumn('webhook_url', 'text')
    .addColumn('idempotency_key', 'text')
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until_ms', 'bigint', column => column.notNull().defaultTo(0))
    .addColumn('epoch', 'bigint', column => column.notNull().defaultTo(0))
    .addUniqueConstraint('batches_idempotency', ['tenant', 'idempotency_key'])
    .execute();
  await index(db, 'batches_by_tenant', 'batches', ['tenant', 'id']);
  await index(db, 'batches_to_claim', 'batches', ['status', 'lease_until_ms']);
  await index(db, 'batches_by_input', 'batches', ['input_file_id']);
}

async function outbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('webhook_outbox')
    .ifNotExists()
    .addColumn('id', 'text', column => column.primaryKey())
    .addColumn('job_id', 'text', column => column.notNull())
    .addColumn('type', 'text', column => column.notNull())
    .addColumn('url', 'text', column => column.notNull())
    .addColumn('attempts', 'bigint', column => column.notNull())
    .addColumn('created_at_ms', 'bigint', column => column.notNull())
    .addColumn('due_at_ms', 'bigint', column => column.notNull())
    .execute();
  await index(db, 'webhook_outbox_due', 'webhook_outbox', ['due_at_ms']);
}

/** SQLite knows no `add column if not exists`: two processes may start at the same time. */
const added = (table: string, column: string, type: 'text' | 'bigint'): Migration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    const tables = await db.introspection.getTables();
    const known = tables.find(({ name }) => name === table);
    if (known?.columns.some(({ name }) => name === column)) return;
    const count = type === 'bigint';
    await db.schema
      .alterTable(table)
      .addColumn(column, type, definition => (count ? definition.notNull().defaultTo(0) : definition))
      .execute();
  },
});

/** Requests whose answers outlive their connections. `if not exists`: two processes may start at the same time. */
const keptRequests: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('kept_requests')
      .ifNotExists()
      .addColumn('tenant', 'text', column => column.notNull())
      .addColumn('name', 'text', column => column.notNull())
      .addColumn('request_id', 'text', column => column.notNull())
      .addColumn('mode', 'text', column => column.notNull())
      .addColumn('path', 'text', column => column.notNull())
      .addColumn('fingerprint', 'text', column => column.notNull())
      .addColumn('headers', 'text', column => column.notNull())
      .addColumn('blob', 'text', column => column.notNull())
      .addColumn('status', 'text', column => column.notNull())
      .addColumn('owner', 'text')
      .addColumn('lease_until_ms', 'bigint', column => column.notNull())
      .addColumn('attempts', 'bigint', column => column.notNull())
      .addColumn('cancelling', 'bigint', column => column.notNull())
      .addColumn('created_at_ms', 'bigint', column => column.notNull())
      .addColumn('ended_at_ms', 'bigint')
      .addColumn('expires_at_ms', 'bigint', column => column.notNull())
      .addColumn('answer', 'text')
      .addPrimaryKeyConstraint('kept_requests_name', ['tenant', 'name'])
      .execute();
    await index(db, 'kept_requests_by_id', 'kept_requests', ['request_id']);
    await index(db, 'kept_requests_by_owner', 'kept_requests', ['owner']);
    await index(db, 'kept_requests_by_lease', 'kept_requests', ['status', 'lease_until_ms']);
    await index(db, 'kept_requests_by_expiry', 'kept_requests', ['expires_at_ms']);
  },
};

/** Which batch made a file, so that its holder can remove files that no result names. */
const filesOfBatches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const tables = await db.introspection.getTables();
    const files = tables.find(({ name }) => name === 'files');
    if (!files?.columns.some(({ name }) => name === 'batch_id'))
      await db.schema.alterTable('files').addColumn('batch_id', 'text').execute();
    await db.schema.createIndex('files_by_batch').ifNotExists().on('files').columns(['batch_id', 'id']).execute();
  },
};

const bytesOfResponses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await added('responses', 'bytes', 'bigint').up(db);
    await index(db, 'responses_by_tenant', 'responses', ['tenant', 'bytes']);
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

const index = (db: Kysely<unknown>, name: string, table: string, columns: string[]): Promise<void> =>
  db.schema.createIndex(name).ifNotExists().on(table).columns(columns).execute();
