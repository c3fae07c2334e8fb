import { type Kysely } from 'kysely';
import { type Migration } from 'kysely/migration';

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

const index = (db: Kysely<unknown>, name: string, table: string, columns: string[]): Promise<void> =>
  db.schema.createIndex(name).ifNotExists().on(table).columns(columns).execute();
