import { type Kysely } from 'kysely';
import { type Migration } from 'kysely/migration';

/** The trace that made a batch. SQLite knows no `add column if not exists`: two processes may start at the same time. */
export const batchTraceparent: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const tables = await db.introspection.getTables();
    const batches = tables.find(({ name }) => name === 'batches');
    if (batches?.columns.some(({ name }) => name === 'traceparent')) return;
    await db.schema.alterTable('batches').addColumn('traceparent', 'text').execute();
  },
};
