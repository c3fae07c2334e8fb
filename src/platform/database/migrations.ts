import { type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { type Migration } from 'kysely/migration';
import { StartError } from '../config/start-error.js';
import { type ColumnType, type Database, type TableName, TABLES } from './schema.js';

type Step = (db: Kysely<unknown>) => Promise<void>;

const migration = (...steps: readonly Step[]): Migration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    for (const step of steps) await step(db);
  },
});

/** In the order they run. The names are stored in the database. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  /** Files, uploads, batches and the webhook outbox. */
  '001-jobs-and-files': migration(
    created('files', ['batchId']),
    indexed('files', 'files_by_tenant', ['tenant', 'id']),
    indexed('files', 'files_by_expiry', ['expires_at_ms']),
    indexed('files', 'files_by_blob', ['blob_key']),
    created('uploads'),
    created('upload_parts'),
    indexed('upload_parts', 'upload_parts_by_upload', ['upload_id']),
    created('batches', ['traceparent', 'terms'], table =>
      table.addUniqueConstraint('batches_idempotency', ['tenant', 'idempotency_key']),
    ),
    indexed('batches', 'batches_by_tenant', ['tenant', 'id']),
    indexed('batches', 'batches_to_claim', ['status', 'lease_until_ms']),
    indexed('batches', 'batches_by_input', ['input_file_id']),
    created('webhook_outbox'),
    indexed('webhook_outbox', 'webhook_outbox_due', ['due_at_ms']),
  ),
  /** The trace that made a batch. */
  '002-batch-traceparent': migration(added('batches', 'traceparent', 'text')),
  /** Requests whose answers outlive their connections. */
  '003-kept-requests': migration(
    created('kept_requests', ['losses', 'body'], table =>
      table.addPrimaryKeyConstraint('kept_requests_name', ['tenant', 'name']),
    ),
    indexed('kept_requests', 'kept_requests_by_id', ['request_id']),
    indexed('kept_requests', 'kept_requests_by_owner', ['owner']),
    indexed('kept_requests', 'kept_requests_by_lease', ['status', 'lease_until_ms']),
    indexed('kept_requests', 'kept_requests_by_expiry', ['expires_at_ms']),
  ),
  /**
   * Which batch made a file, so that its holder can remove files that no result names.
   */
  '004-files-of-batches': migration(
    added('files', 'batch_id', 'text'),
    indexed('files', 'files_by_batch', ['batch_id', 'id']),
  ),
  /** Keys, usage and the audit log. */
  '005-keys-usage-audit': migration(
    created('api_keys'),
    createVersion,
    created('usage', [], table =>
      table.addPrimaryKeyConstraint('usage_groups', ['day', 'tenant', 'key_id', 'model']),
    ),
    created('audit'),
    indexed('audit', 'audit_by_time', ['at_ms']),
  ),
  /** Stored responses and the events of those that run in the background. */
  '006-responses': migration(
    created('responses', ['bytes'], table =>
      table.addPrimaryKeyConstraint('responses_id', ['tenant', 'id']),
    ),
    created('response_events', [], table =>
      table.addPrimaryKeyConstraint('response_events_first', [
        'tenant',
        'response_id',
        'first_sequence',
      ]),
    ),
    indexed('responses', 'responses_by_expiry', ['expires_at_ms']),
    indexed('responses', 'responses_by_status', ['status', 'created_at_ms']),
    indexed('responses', 'responses_by_end_of_events', ['events_until_ms']),
  ),
  /** Of the key that made a batch. */
  '007-batch-terms': migration(added('batches', 'terms', 'text')),
  /** Sessions of the console that were signed out before they expired. */
  '008-ended-sessions': migration(
    created('ended_sessions'),
    indexed('ended_sessions', 'ended_sessions_ended_at_ms', ['ended_at_ms']),
    indexed('ended_sessions', 'ended_sessions_expires_at_ms', ['expires_at_ms']),
  ),
  /** Gateways that were lost while they had it. */
  '009-losses-of-kept-requests': migration(added('kept_requests', 'losses', 'bigint')),
  '010-bytes-of-responses': migration(
    added('responses', 'bytes', 'bigint'),
    indexed('responses', 'responses_by_tenant', ['tenant', 'bytes']),
  ),
  /** Length and hash of the stored body. */
  '011-bodies-of-kept-requests': migration(added('kept_requests', 'body', 'text')),
  /** Texts of responses, which may have megabytes, in a table of their own. */
  '012-texts-of-responses': migration(
    created('response_texts', [], table =>
      table.addPrimaryKeyConstraint('response_texts_id', ['tenant', 'id']),
    ),
    movedTexts,
  ),
};

/**
 * SQLite knows no `add column if not exists`: two processes may start at the same time.
 */
function added(table: string, column: string, type: 'text' | 'bigint'): Step {
  return async db => {
    if ((await columnsIn(db, table)).has(column)) return;
    await db.schema
      .alterTable(table)
      .addColumn(column, type, definition =>
        type === 'bigint' ? definition.notNull().defaultTo(0) : definition,
      )
      .execute();
  };
}

/** In one transaction: of two processes that start, the later finds it done. */
async function movedTexts(db: Kysely<unknown>): Promise<void> {
  if (!db.isTransaction) return db.transaction().execute(movedTexts);
  if (!(await columnsIn(db, 'responses')).has('input')) return;
  await demandNothingRuns(db);
  await sql`insert into response_texts (tenant, id, request, input, response)
    select tenant, id, request, input, response from responses`.execute(db);
  for (const text of ['request', 'input', 'response'])
    await db.schema.alterTable('responses').dropColumn(text).execute();
}

/** @throws StartError while a process of the version before runs requests: they would be lost */
async function demandNothingRuns(db: Kysely<Database>): Promise<void> {
  const running = await db
    .selectFrom('kept_requests')
    .select('owner')
    .where('owner', 'is not', null)
    .where('leaseUntilMs', '>', Date.now())
    .limit(1)
    .executeTakeFirst();
  if (running) throw new StartError(STILL_RUNS);
}

const STILL_RUNS =
  'A gateway of the version before still runs stored requests, which migration 012 would lose.\n' +
  'Stop all gateways of that version, then start this one; nothing was changed in the database. ' +
  'What they leave is continued (docs/operate/upgrade.md).';

async function columnsIn(db: Kysely<unknown>, table: string): Promise<ReadonlySet<string>> {
  const tables = await db.introspection.getTables();
  const columns = tables.find(({ name }) => name === table)?.columns ?? [];
  return new Set(columns.map(({ name }) => name));
}

async function createVersion(db: Kysely<unknown>) {
  await db.schema
    .createTable('api_key_version')
    .ifNotExists()
    .addColumn('id', 'bigint', column => column.primaryKey())
    .addColumn('version', 'bigint', column => column.notNull())
    .execute();
  await (db as Kysely<Pick<Database, 'api_key_version'>>)
    .insertInto('api_key_version')
    .values({ id: 1, version: 0 })
    .onConflict(conflict => conflict.doNothing())
    .execute();
}

/**
 * `if not exists`: two processes may start at the same time.
 * @param later columns that a later migration adds
 */
function created(
  name: TableName,
  later: readonly string[] = [],
  constrain = (table: CreateTableBuilder<string, string>) => table,
): Step {
  return async db => {
    let table: CreateTableBuilder<string, string> = db.schema.createTable(name).ifNotExists();
    for (const [column, type] of Object.entries<ColumnType>(TABLES[name])) {
      if (later.includes(column)) continue;
      table = table.addColumn(column, isNumber(type) ? 'bigint' : 'text', made =>
        constrained(made, type),
      );
    }
    await constrain(table).execute();
  };
}

const isNumber = (type: ColumnType) => /^(bigint|flag|counter)/.test(type);

function constrained(column: ColumnDefinitionBuilder, type: ColumnType): ColumnDefinitionBuilder {
  if (type === 'key') return column.primaryKey();
  if (type.endsWith('?')) return column;
  const filled = column.notNull();
  if (type === 'counter') return filled.defaultTo(0);
  return type === 'unique' ? filled.unique() : filled;
}

function indexed(table: string, name: string, columns: string[]): Step {
  return db => db.schema.createIndex(name).ifNotExists().on(table).columns(columns).execute();
}
