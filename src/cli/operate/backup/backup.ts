import { existsSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { loadConfig } from '../../../platform/config/load-config.js';
import { type Settings } from '../../../platform/config/settings.js';
import { SqliteSnapshot } from '../../../platform/database/sqlite-snapshot.js';
import { productVersion } from '../../../platform/process/product-version.js';
import { isAbsent, syncFolder } from '../../../platform/storage/durable-files.js';
import { FsBlobStore } from '../../../platform/storage/fs-blob-store.js';
import { writablePath } from '../../shared/arguments.js';
import { usageError } from '../../shared/cli-error.js';
import { command } from '../../shared/command.js';
import { byteText, MARKS, ProgressLine, say } from '../../shared/terminal.js';
import {
  BLOBS,
  blobsFolder,
  DATABASE,
  databaseFile,
  notIncluded,
  presentFiles,
} from './backed-up-files.js';
import { writeArchive } from './backup-archive.js';

const NOTES = `FILE is a tar archive of mode 0600: the SQLite database, the bytes of files, the models files, and the files of keys
and secrets that the settings name. A gateway may run meanwhile: the backup holds the state of one moment.
Store it as safely as data.dir. Run it as the user of the gateway, with its settings.`;

const STAGE = /^\.backup-(\d+)$/;

export const backupCommand = command('backup <file>', {
  about: 'save files, batches, stored requests, keys and models files in one archive',
  arg: 'the archive to write; it must not exist yet',
  examples: ['backup switchyard.tar', 'backup /mnt/backups/switchyard-$(date +%F).tar'],
  notes: NOTES,
  json: 'its manifest as one JSON document',
  async run({ arg: file, signal }) {
    const { settings } = loadConfig({ settingsOnly: true });
    const path = await writablePath(file);
    if (existsSync(path)) throw usageError(`${file} exists; name another file, or remove it`);
    const stage = await newStage(settings.data.dir);
    using progress = new ProgressLine();
    const draft = `${path}.unfinished`;
    try {
      const { sources, schema } = await staged(settings, stage, progress);
      const head = {
        version: productVersion(),
        created: new Date().toISOString(),
        schema,
        not_included: [...notIncluded(settings)],
      };
      await rm(draft, { force: true });
      const sizes = await Promise.all(sources.map(async ([, source]) => (await stat(source)).size));
      const onBytes = shareOf(sum(sizes), progress);
      const manifest = await writeArchive(draft, head, sources, onBytes, signal);
      await rename(draft, path);
      await syncFolder(dirname(path));
      return { file: path, ...manifest };
    } finally {
      await rm(draft, { force: true });
      await rm(stage, { recursive: true, force: true });
    }
  },
  text({ file, files, schema, not_included: left }) {
    for (const sentence of left) say(`${MARKS.warn} ${sentence}`);
    const bytes = byteText(sum(files.map(each => each.bytes)));
    const database = schema === null ? 'no database' : `database at ${schema}`;
    say(`${MARKS.ok} ${files.length} files, ${bytes}, ${database}`);
    return file;
  },
});

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Shows every twentieth of `total` bytes. */
export function shareOf(total: number, progress: ProgressLine): (count: number) => void {
  let done = 0;
  return count => {
    done += count;
    progress.show(`${Math.floor((20 * done) / Math.max(1, total)) * 5} % of ${byteText(total)}`);
  };
}

/** A new temporary folder. Removes those of backups that were killed. */
async function newStage(dataFolder: string): Promise<string> {
  if (!existsSync(dataFolder))
    throw usageError(`there is no data folder ${dataFolder} (data.dir): nothing to back up`);
  for (const name of await readdir(dataFolder)) {
    const pid = Number(STAGE.exec(name)?.[1] ?? process.pid);
    if (pid !== process.pid && !isAlive(pid))
      await rm(join(dataFolder, name), { recursive: true, force: true });
  }
  const stage = join(dataFolder, `.backup-${process.pid}`);
  await mkdir(stage, { mode: 0o700 });
  return stage;
}

/**
 * The state of one moment: each blob that the database names then has a link before, or
 * right after. Blobs are whole once they have their name, and never written again.
 */
async function staged(settings: Settings, stage: string, progress: ProgressLine) {
  const keys = new Set<string>();
  const holdBlobs = async (): Promise<void> => {
    if (settings.blobs.driver === 'fs') await linkBlobs(settings, stage, keys);
  };
  const sources = [...presentFiles(settings)];
  let schema: string | null = null;
  await holdBlobs();
  if (settings.database.url === '' && existsSync(databaseFile(settings))) {
    const copy = join(stage, DATABASE);
    using snapshot = new SqliteSnapshot(databaseFile(settings));
    ({ schema } = snapshot);
    await holdBlobs();
    await snapshot.copyTo(copy, part => progress.show(`database ${Math.floor(20 * part) * 5} %`));
    sources.unshift([DATABASE, copy]);
  }
  for (const key of keys) sources.push([BLOBS + key, join(stage, BLOBS, key)]);
  return { sources, schema };
}

async function linkBlobs(settings: Settings, stage: string, keys: Set<string>): Promise<void> {
  const folder = blobsFolder(settings);
  for await (const { key } of new FsBlobStore(folder).keys('')) {
    if (keys.has(key)) continue;
    const target = join(stage, BLOBS, key);
    await mkdir(dirname(target), { recursive: true });
    const linked = await linkOrCopy(join(folder, key), target);
    if (linked) keys.add(key);
  }
}

/** Links or copies a file. @returns false: the file was removed meanwhile */
async function linkOrCopy(source: string, target: string): Promise<boolean> {
  try {
    // Some file systems know no links.
    await link(source, target).catch(() => copyFile(source, target));
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
