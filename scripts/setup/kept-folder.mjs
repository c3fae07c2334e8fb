import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What is kept outside the clone, of this clone and of others. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'switchyard');
/** One that was not used for so long is removed when another is made. */
const FORGOTTEN_MS = 7 * 86_400_000;

/**
 * A folder outside the clone, made once for what `key` says, whole or not at all. Of two that
 * make it at once the first one's stays.
 * @param make fills the folder that it is given; where it lies afterwards is another place
 */
export async function keptFolder(name, key, make) {
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const folder = join(CACHE, `${name}-${digest}`);
  if (!existsSync(folder)) {
    mkdirSync(CACHE, { recursive: true });
    removeForgotten(name);
    const half = mkdtempSync(join(CACHE, `${name}-half-`));
    try {
      await make(half);
      if (!existsSync(folder)) renameSync(half, folder);
    } finally {
      rmSync(half, { recursive: true, force: true });
    }
  }
  utimesSync(folder, new Date(), new Date());
  return folder;
}

function removeForgotten(name) {
  for (const other of readdirSync(CACHE).filter(each => each.startsWith(`${name}-`))) {
    const folder = join(CACHE, other);
    const ageMs = Date.now() - statSync(folder).mtimeMs;
    if (ageMs > FORGOTTEN_MS) rmSync(folder, { recursive: true, force: true });
  }
}
