import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../support/free-port.js';
import { SmallDisk } from '../support/small-disk.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { UpProcess } from '../support/up-process.js';

/**
 * `npm run up` of a product that cannot start: it ends at once with the cause, the place
 * and the repair.
 */
describe('a start that fails', () => {
  let folder: string;
  let disk: SmallDisk;
  let up: UpProcess | undefined;

  beforeAll(() => {
    folder = temporaryFolder();
    disk = SmallDisk.mount();
    execFileSync('mount', ['-o', 'remount,ro', disk.path]);
    writeFileSync(join(folder, 'models.yaml'), JSON.stringify({ models: [syntheticModel({})] }));
    mkdirSync(join(folder, 'garbage'));
    writeFileSync(join(folder, 'garbage', 'switchyard.db'), 'no database '.repeat(1000));
  });
  afterEach(() => up?.end());
  afterAll(() => {
    disk[Symbol.dispose]();
  });

  const failures = (): Record<
    string,
    { readonly settings: Record<string, string>; readonly says: string[] }
  > => ({
    'a data folder on a read-only disk': {
      settings: { SWITCHYARD_DATA_DIR: join(disk.path, 'data') },
      says: [
        'SWITCHYARD_DATA_DIR  data.dir = ',
        'may not be written (EROFS)',
        'name another folder',
      ],
    },
    'a data folder where none can be made': {
      settings: { SWITCHYARD_DATA_DIR: '/proc/data/switchyard' },
      says: [
        'SWITCHYARD_DATA_DIR  data.dir = ',
        'may not be written (ENOENT)',
        'name another folder',
      ],
    },
    'a database file that holds something else': {
      settings: { SWITCHYARD_DATA_DIR: join(folder, 'garbage') },
      says: [
        'file is not a database',
        join(folder, 'garbage', 'switchyard.db'),
        'Restore it from a backup',
      ],
    },
    'a PostgreSQL that is not there': {
      settings: { SWITCHYARD_DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/x' },
      says: ['connect ECONNREFUSED 127.0.0.1:1', 'database.url', 'start PostgreSQL there'],
    },
  });

  it.each([
    'a data folder on a read-only disk',
    'a data folder where none can be made',
    'a database file that holds something else',
    'a PostgreSQL that is not there',
  ])(
    'names the cause and the repair of %s, and ends with 1 and without links',
    async name => {
      const { settings, says } = failures()[name]!;
      const port = await freePort();
      up = new UpProcess(['--run', '--port', String(port)], {
        SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
        SWITCHYARD_DATA_DIR: join(folder, 'data'),
        ...settings,
      });
      expect(await up.exitCode()).toBe(1);
      for (const text of says) expect(up.output).toContain(text);
      for (const text of ['/console', 'secret', '    at ']) expect(up.output).not.toContain(text);
    },
    30_000,
  );
});
