import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { OpenDatabase } from './open-database.js';

describe('the SQLite file', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
    chmodSync(folder, 0o755);
  });

  it.each(['new', 'readable by all before'])(
    'is for its user alone, with its log, in a folder that others may read: %s',
    async was => {
      const file = join(folder, 'switchyard.db');
      if (was !== 'new') writeFileSync(file, '', { mode: 0o644 });
      const database = new OpenDatabase(file);
      await database.migrate();
      await sql`select 1 from sqlite_master`.execute(database.db);
      for (const name of [file, `${file}-wal`, `${file}-shm`])
        expect(statSync(name).mode & 0o777).toBe(0o600);
      await database.db.destroy();
    },
  );
});
