import { type Kysely } from 'kysely';
import { type Migration } from 'kysely/migration';

/** Requests whose answers outlive their connections. `if not exists`: two processes may start at the same time. */
export const keptRequests: Migration = {
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
    await index(db, 'kept_requests_by_id', ['request_id']);
    await index(db, 'kept_requests_by_owner', ['owner']);
    await index(db, 'kept_requests_by_lease', ['status', 'lease_until_ms']);
    await index(db, 'kept_requests_by_expiry', ['expires_at_ms']);
  },
};

const index = (db: Kysely<unknown>, name: string, columns: string[]): Promise<void> =>
  db.schema.createIndex(name).ifNotExists().on('kept_requests').columns(columns).execute();
