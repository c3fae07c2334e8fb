import { type Kysely } from 'kysely';
import { type Migration } from 'kysely/migration';

/** Which batch made a file, so that its holder can remove files that no result names. */
export const filesOfBatches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const tables = await db.introspection.getTables();
    const files = tables.find(({ name }) => name === 'files');
    if (!files?.columns.some(({ name }) => name === 'batch_id'))
      await db.schema.alterTable('files').addColumn('batch_id', 'text').execute();
    await db.schema.createIndex('files_by_batch').ifNotExists().on('files').columns(['batch_id', 'id']).execute();
  },
};
