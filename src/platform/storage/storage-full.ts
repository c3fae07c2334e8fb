import { statfs } from 'node:fs/promises';
import { DomainError } from '../../core/shared/domain-error.js';
import { storageUnavailable } from '../http/passing-errors.js';
import { isOutage } from './outage.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const isFull = (cause: unknown): boolean => FULL.has((cause as NodeJS.ErrnoException).code ?? '');

/** @throws DomainError `storage_full` when the disk is; else what `operation` throws. */
export async function orStorageFull<T>(operation: Promise<T>, message: string): Promise<T> {
  try {
    return await operation;
  } catch (cause) {
    if (!isFull(cause)) throw cause;
    throw new DomainError('storage_full', message, { cause });
  }
}

/** @throws DomainError `storage_full`, `storage_unavailable` when disk, blob store or database do not work; else what `operation` throws. */
export async function orStorageProblem<T>(operation: Promise<T>, message: string): Promise<T> {
  try {
    return await orStorageFull(operation, message);
  } catch (cause) {
    if (cause instanceof DomainError || !isOutage(cause)) throw cause;
    throw storageUnavailable('The database or the blob store does not answer now.', cause);
  }
}

/** Free bytes for this user on the file system of an existing folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
