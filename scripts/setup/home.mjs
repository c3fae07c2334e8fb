import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOME, inRoot, IS_PACKAGE } from './command.mjs';
import { ensureDebianPackages } from './engine-packages.mjs';
import { done } from './report.mjs';

const ENTRIES = /^models:\n[^]*/m;

/**
 * Gives the npm package's working folder its configuration, once; what is there stays.
 * Models whose libraries are missing are left out: without them the gateway starts and
 * serves no model yet.
 */
export async function ensureHome() {
  if (!IS_PACKAGE) return;
  mkdirSync(join(HOME, 'config'), { recursive: true });
  for (const name of ['switchyard.yaml', 'models.yaml']) {
    const file = join(HOME, 'config', name);
    if (existsSync(file)) continue;
    const text = readFileSync(inRoot('config', name), 'utf8');
    const bare =
      name === 'models.yaml' &&
      (await ensureDebianPackages('engine', { install: false })).length > 0;
    writeFileSync(file, bare ? text.replace(ENTRIES, 'models: []\n') : text);
    done('configuration', bare ? `${file}: no models yet` : file);
  }
}
