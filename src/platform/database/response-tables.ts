import { type Kysely } from 'kysely';
import { type Migration } from 'kysely/migration';

export interface ResponsesTable {
  tenant: string;
  id: string;
  status: string;
  previous_id: string | null;
  chain_length: number;
  chain_bytes: number;
  /** JSON, as are `input` and `response`; null: it has ended, or does not run in the background. */
  request: string | null;
  input: string;
  response: string;
  created_at_ms: number;
  expires_at_ms: number;
  /** Of `input`, `response` and the output that came later. */
  bytes: number;
  epoch: number;
  next_sequence: number;
  /** Its events are removed then. */
  events_until_ms: number;
}

export interface ResponseEventsTable {
  tenant: string;
  response_id: string;
  /** Numbers of the first and last event of the row. */
  first_sequence: number;
  last_sequence: number;
  /** JSON objects, one per line. */
  events: string;
}

/** Stored responses and the events of those that run in the background. `if not exists`: two processes may start. */
export const responses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('responses')
      .ifNotExists()
      .addColumn('tenant', 'text', column => column.notNull())
      .addColumn('id', 'text', column => column.notNull())
      .addColumn('status', 'text', column => column.notNull())
      .addColumn('previous_id', 'text')
      .addColumn('chain_length', 'bigint', column => column.notNull())
      .addColumn('chain_bytes', 'bigint', column => column.notNull())
      .addColumn('request', 'text')
      .addColumn('input', 'text', column => column.notNull())
      .addColumn('response', 'text', column => column.notNull())
      .addColumn('created_at_ms', 'bigint', column => column.notNull())
      .addColumn('expires_at_ms', 'bigint', column => column.notNull())
      .addColumn('epoch', 'bigint', column => column.notNull())
      .addColumn('next_sequence', 'bigint', column => column.notNull())
      .addColumn('events_until_ms', 'bigint', column => column.notNull())
      .addPrimaryKeyConstraint('responses_id', ['tenant', 'id'])
      .execute();
    await db.schema
      .createTable('response_events')
      .ifNotExists()
      .addColumn('tenant', 'text', column => column.notNull())
      .addColumn('response_id', 'text', column => column.notNull())
      .addColumn('first_sequence', 'bigint', column => column.notNull())
      .addColumn('last_sequence', 'bigint', column => column.notNull())
      .addColumn('events', 'text', column => column.notNull())
      .addPrimaryKeyConstraint('response_events_first', ['tenant', 'response_id', 'first_sequence'])
      .execute();
    await index(db, 'responses_by_expiry', 'responses', ['expires_at_ms']);
    await index(db, 'responses_by_status', 'responses', ['status', 'created_at_ms']);
    await index(db, 'responses_by_end_of_events', 'responses', ['events_until_ms']);
  },
};

const index = (db: Kysely<unknown>, name: string, table: string, columns: string[]): Promise<void> =>
  db.schema.createIndex(name).ifNotExists().on(table).columns(columns).execute();
