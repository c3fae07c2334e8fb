import { OpenDatabase } from '../../src/platform/database/open-database.js';

/**
 * Locks a batch as a processor does amid a change, says so, and goes no further: to be
 * stopped by a signal.
 */
const [url = '', id = ''] = process.argv.slice(2);
await new OpenDatabase(url).db
  .transaction()
  .execute(async transaction => {
    await transaction.selectFrom('batches').selectAll().where('id', '=', id).forUpdate().execute();
    process.stdout.write('holding\n');
    await new Promise(resolve => setTimeout(resolve, 600_000));
  })
  .catch(() => undefined);
