import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadConfig } from '../../../platform/config/load-config.js';
import { type Settings } from '../../../platform/config/settings.js';
import { demandKnownSchema, isInUse } from '../../../platform/database/sqlite-snapshot.js';
import { syncFolder } from '../../../platform/storage/durable-files.js';
import { readablePath } from '../../shared/arguments.js';
import { CliError, usageError } from '../../shared/cli-error.js';
import { command } from '../../shared/command.js';
import { MARKS, ProgressLine, say } from '../../shared/terminal.js';
import { BLOBS, blobsFolder, DATABASE, databaseFile, namedFiles } from './backed-up-files.js';
import {
  type ArchiveVisitor,
  type BackupManifest,
  counted,
  readArchive,
} from './backup-archive.js';
import { shareOf } from './backup.js';

const NOTES = `The archive is compared with its manifest before anything is written. A data folder that a gateway or batch processor
uses is refused, and so is one that holds a database, files or models.yaml: with --force these are moved to
data.dir/replaced-TIME. A models, keys or secrets file beyond data.dir that differs is replaced with --force only, with
a copy there too. A backup of a newer release is refused.`;

export const restoreCommand = command('restore <file>', {
  about: 'bring back what "switchyard backup" saved, into an empty data folder',
  arg: 'the archive',
  examples: [
    'restore switchyard.tar',
    'restore switchyard.tar --check                       read it, and write nothing',
    'restore switchyard.tar --force                       what is there is moved aside',
  ],
  notes: NOTES,
  options: {
    '--check': 'read the archive and compare it with its manifest; write nothing',
    '--force': 'move away what is there',
  },
  json: 'the manifest, and what was restored, as one JSON document',
  async run({ arg: file, options, signal }) {
    const path = await readablePath(file);
    const { settings } = loadConfig({ settingsOnly: true });
    const { size } = await stat(path);
    using progress = new ProgressLine();
    const skip: ArchiveVisitor = async (_, bytes) => {
      const count = shareOf(size, progress);
      for await (const chunk of bytes) count(chunk.byteLength);
    };
    const manifest = await readArchive(path, skip, signal);
    if (manifest.schema !== null) demandKnownSchema(manifest.schema);
    if (options.check) return { ...manifest, restored: [], kept: [] };
    demandPlace(manifest, settings, options.force === true);
    const stage = join(settings.data.dir, `.restore-${process.pid}`);
    try {
      await mkdir(stage, { recursive: true, mode: 0o700 });
      await readArchive(path, writeInto(stage, shareOf(size, progress)), signal);
      const moved = await putInPlace(stage, manifest, settings, options.force === true);
      return { ...manifest, ...moved };
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
  },
  text({ version, created, files, restored, kept, not_included: left }) {
    for (const sentence of left) say(`${MARKS.warn} ${sentence}`);
    for (const { name, path } of kept)
      say(
        `${MARKS.warn} ${name}: ${path ?? 'the setting is empty'}; not replaced. ` +
          `To read that of the backup: tar -xOf ARCHIVE ${name}`,
      );
    const done = restored.length === 0 ? 'nothing was written' : `${restored.join(', ')} restored`;
    return `${MARKS.ok} backup of ${version}, ${created}: ${files.length} files are whole; ${done}`;
  },
});

/** What a gateway or a restore writes in the data folder. */
const heldIn = (settings: Settings): readonly string[] =>
  [
    databaseFile(settings),
    `${databaseFile(settings)}-wal`,
    `${databaseFile(settings)}-shm`,
    blobsFolder(settings),
    ...['jobs', 'models.yaml', 'keys.yaml'].map(name => join(settings.data.dir, name)),
  ].filter(existsSync);

/** @throws CliError where the settings do not fit, or the data folder may not be written */
function demandPlace({ files, schema }: BackupManifest, settings: Settings, force: boolean) {
  const { database, blobs, data } = settings;
  if ((schema !== null) !== (database.url === ''))
    throw usageError(
      schema === null
        ? 'The backup has no database: it was made beside PostgreSQL (restore that by pg_restore, and name it in database.url), or before the first start.'
        : 'The backup has a SQLite database, and database.url names PostgreSQL. Leave database.url empty to restore it.',
    );
  if (blobs.driver !== 'fs' && files.some(({ name }) => name.startsWith(BLOBS)))
    throw usageError('The backup has the bytes of files, and blobs.driver is s3: set it to fs.');
  const held = heldIn(settings);
  if (held.length > 0 && !force)
    throw new CliError(
      `${data.dir} is not empty: ${held.join(', ')}. Nothing was changed. Name an empty data.dir, or --force moves ` +
        'what is there aside.',
    );
  if (existsSync(databaseFile(settings)) && isInUse(databaseFile(settings)))
    throw new CliError(
      `${data.dir} is in use: stop the gateway and the batch processors first. Nothing was changed.`,
    );
}

const writeInto =
  (stage: string, onBytes: (count: number) => void): ArchiveVisitor =>
  async (name, bytes) => {
    const path = join(stage, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, counted(bytes, onBytes), { flag: 'wx', mode: 0o600, flush: true });
  };

interface KeptFile {
  readonly name: string;
  readonly path: string | undefined;
}

/** Puts the files in place, the database last: without it, nothing of the rest is read. */
async function putInPlace(
  stage: string,
  manifest: BackupManifest,
  settings: Settings,
  force: boolean,
) {
  const aside = join(settings.data.dir, `replaced-${new Date().toISOString().replaceAll(':', '')}`);
  for (const path of heldIn(settings)) await moveAside(path, aside);
  const restored: string[] = [];
  const kept: KeptFile[] = [];
  const places = namedFiles(settings);
  for (const { name } of manifest.files) {
    if (name === DATABASE || name.startsWith(BLOBS)) continue;
    const path = places[name];
    if (path === undefined || !(await placed(join(stage, name), path, force ? aside : undefined)))
      kept.push({ name, path });
    else restored.push(name);
  }
  if (existsSync(join(stage, BLOBS))) {
    await rename(join(stage, BLOBS), blobsFolder(settings));
    restored.push('blobs');
  }
  if (manifest.schema !== null) {
    await rename(join(stage, DATABASE), databaseFile(settings));
    restored.push(DATABASE);
  }
  await syncFolder(settings.data.dir);
  return { restored, kept };
}

async function moveAside(path: string, aside: string): Promise<void> {
  await mkdir(aside, { recursive: true, mode: 0o700 });
  await rename(path, join(aside, path.split(/[/\\]/).at(-1)!));
}

/**
 * @param aside where a copy of the file that differs goes; undefined: it stays
 * @returns false: it stays
 */
async function placed(source: string, target: string, aside: string | undefined) {
  const before = await readFile(target).catch(() => undefined);
  if (before?.equals(await readFile(source))) return true;
  if (before && aside === undefined) return false;
  await mkdir(dirname(target), { recursive: true });
  if (before && aside !== undefined) {
    await mkdir(aside, { recursive: true, mode: 0o700 });
    await copyFile(target, join(aside, source.split(/[/\\]/).at(-1)!));
  }
  await copyFile(source, target);
  await chmod(target, 0o600);
  return true;
}
