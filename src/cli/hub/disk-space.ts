import { freeBytes } from '../../platform/storage/storage-problems.js';
import { HubError } from './hub-error.js';

/**
 * @throws HubError `disk_full` saying how much must go. Checked before the first byte: a
 *   disk that fills up hurts
 * others, too.
 */
export async function demandSpace(
  folder: string,
  bytes: number,
  free: (folder: string) => Promise<number> = freeBytes,
) {
  const available = await free(folder);
  if (available >= bytes) return;
  const missing = byteText(bytes - available);
  throw new HubError(
    'disk_full',
    `${folder} has ${byteText(available)} free and ${byteText(bytes)} are needed: ` +
      `free ${missing}, or choose another disk (--into, hub.models_dir)`,
  );
}

/** A write that failed, as a HubError where the disk is full. */
export function writeFailure(error: unknown, path: string): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const quota = code === 'EDQUOT' ? 'your quota is used up' : 'the disk is full';
    return new HubError(
      'disk_full',
      `${quota} at ${path}; what came so far is kept: make room and pull again`,
      {
        cause: error,
      },
    );
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new HubError(
      'order',
      `${path} may not be written (${code}); choose another folder with --into`,
      {
        cause: error,
      },
    );
  }
  return error instanceof Error ? error : new Error(message);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.4 GiB` */
export function byteText(bytes: number): string {
  const power =
    bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}
