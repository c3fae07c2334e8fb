import { freeBytes } from '../../../platform/storage/storage-problems.js';
import { byteText } from '../../shared/terminal.js';
import { HubError } from './hub-error.js';

/**
 * @throws HubError `disk_full` saying how much must go. Checked before the first byte: a
 *   disk that fills up hurts others, too.
 */
export async function demandSpace(
  folder: string,
  bytes: number,
  free: (folder: string) => Promise<number> = freeBytes,
): Promise<void> {
  const available = await free(folder);
  if (available >= bytes) return;
  throw new HubError(
    'disk_full',
    `${folder} has ${byteText(available)} free and ${byteText(bytes)} are needed: ` +
      `free ${byteText(bytes - available)}, or choose another disk (--into, hub.models_dir)`,
  );
}

const REFUSED = ['EACCES', 'EPERM', 'EROFS'];

/** @throws what `write` throws; a HubError where the disk is full or may not be written */
export async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (REFUSED.includes(code))
      throw new HubError(
        'order',
        `${path} may not be written (${code}); choose another folder with --into`,
        { cause: error },
      );
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    const what = code === 'EDQUOT' ? 'your quota is used up' : 'the disk is full';
    throw new HubError(
      'disk_full',
      `${what} at ${path}; what came so far is kept: make room and pull again`,
      { cause: error },
    );
  }
}
