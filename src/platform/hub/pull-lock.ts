import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFailure } from './disk-space.js';
import { LOCK_NAME } from './file-path.js';
import { HubError } from './hub-error.js';

/**
 * One pull per folder: two would write into the same partial files. A lock whose process is gone is taken over.
 * @throws HubError `order` naming the process that holds it
 */
export async function lockFolder(folder: string): Promise<AsyncDisposable> {
  const path = join(folder, LOCK_NAME);
  const holder = Number(await readFile(path, 'utf8').catch(() => '0'));
  if (holder > 0 && isAlive(holder)) throw busy(folder, holder);
  await rm(path, { force: true });
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw busy(folder);
    throw writeFailure(error, path);
  }
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

const busy = (folder: string, pid?: number): HubError =>
  new HubError('order', `another pull${pid ? ` (process ${pid})` : ''} is filling ${folder}`);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
