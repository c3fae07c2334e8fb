import { statfs } from 'node:fs/promises';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { storageUnavailable } from '../http/passing-errors.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * What a failure of a disk or a blob store means to a request: `storage_full` (507) or
 * `storage_unavailable` (503, to be tried again), descriptors that are used up included. A
 * DomainError says already what it means.
 */
export function storageProblem(cause: unknown, place = 'the data folder'): DomainError {
  if (cause instanceof DomainError) return cause;
  if (FULL.has((cause as NodeJS.ErrnoException).code ?? ''))
    return new DomainError('storage_full', `There is no room to store the bytes in ${place}.`, {
      cause,
    });
  return storageUnavailable('The blob store or disk does not answer now.', cause);
}

/**
 * @param place where the bytes go
 * @throws DomainError as `storageProblem` says, whatever `operation` throws
 */
export const orStorageProblem = <T>(operation: Promise<T>, place?: string): Promise<T> =>
  operation.catch((cause: unknown) => Promise.reject(storageProblem(cause, place)));

/** Free bytes for this user on the file system of an existing folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** There is no blob with this key: it was removed, or never written to its end. */
export class BlobMissing extends Error {
  constructor(readonly key: string) {
    super(`There is no blob ${key}.`);
    this.name = 'BlobMissing';
  }
}

const KEY = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/;

/**
 * Keys are made here, never by users; a path that could leave the folder is a mistake
 * worth stopping at. @throws RangeError
 */
export function checkKey(key: string): string {
  if (key.length > 200 || !KEY.test(key))
    throw new RangeError(`Not a blob key: ${writeJson(key)}.`);
  return key;
}

/**
 * SQLite's result codes for what passes: busy, locked, read-only, I/O, full, cannot open,
 * protocol of locks.
 */
const SQLITE_PASSING = new Set([5, 6, 8, 10, 13, 14, 15]);
/**
 * Classes of SQLSTATE: connection, sign-in, database absent, rolled back by the server,
 * resources, not now, operator, system, configuration, corruption; read-only, a
 * transaction left idle or too old.
 */
const SQLSTATE_PASSING = /^(08|28|3D|40|53|55|57|58|F0|XX|25006|25P0[34])/;

/**
 * A disk, database, network or blob store that does not do its work now: everything
 * is kept and tried again. Anything else is a mistake of ours, and repeating it
 * would not help.
 */
export function isOutage(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, $metadata, $fault, severity, errcode, message, cause } = error as Readonly<
    Record<string, unknown>
  >;
  // S3: whatever its server or the way to it said.
  if ($metadata !== undefined || $fault !== undefined) return true;
  // Postgres: the server spoke, and it may be about our question.
  if (typeof severity === 'string') return SQLSTATE_PASSING.test(String(code));
  if (typeof errcode === 'number') return SQLITE_PASSING.has(errcode & 0xff);
  // ERR_… are Node's complaints about arguments; others are the system's.
  if (typeof code === 'string') return !code.startsWith('ERR_');
  return /connection|timeout|terminat/i.test(String(message)) || isOutage(cause);
}
