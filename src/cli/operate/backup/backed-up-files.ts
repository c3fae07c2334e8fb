import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startersFile } from '../../../platform/config/load-config.js';
import { type Settings } from '../../../platform/config/settings.js';

export const DATABASE = 'database';
export const BLOBS = 'blobs/';
export const databaseFile = ({ data }: Settings): string => join(data.dir, 'switchyard.db');
export const blobsFolder = ({ data }: Settings): string => join(data.dir, 'blobs');

/**
 * Files that the settings name and that were made by use or hold secrets of this gateway, by
 * their name in an archive; undefined: none is named.
 */
export const namedFiles = (settings: Settings): Readonly<Record<string, string | undefined>> => {
  const { auth, batch, hub, workers } = settings;
  const files = {
    'models.yaml': startersFile(settings),
    'workers.models_file': workers.modelsFile,
    'hub.catalogue_file': hub.catalogueFile,
    'auth.keys_file': auth.keysFile,
    'auth.token_secret_file': auth.tokenSecretFile,
    'auth.previous_token_secret_file': auth.previousTokenSecretFile,
    'batch.targets_file': batch.targetsFile,
    'batch.webhook_secret_file': batch.webhookSecretFile,
  };
  return Object.fromEntries(Object.entries(files).map(([name, path]) => [name, path || undefined]));
};

/** The files that exist. */
export const presentFiles = (settings: Settings): (readonly [name: string, path: string])[] =>
  Object.entries(namedFiles(settings)).flatMap(([name, path]) =>
    path !== undefined && existsSync(path) ? [[name, path] as const] : [],
  );

/** What an archive leaves to other tools, one sentence each. */
export function notIncluded({ database, blobs }: Settings): readonly string[] {
  return [
    ...(database.url === ''
      ? []
      : ['The PostgreSQL database is not in it: use pg_dump, before the bucket is copied.']),
    ...(blobs.driver === 'fs'
      ? []
      : ['The bytes of files are not in it: use the versions or copies of your S3 bucket.']),
    'Pulled models and engines are not in it: install them again. Nor is the settings file.',
  ];
}
