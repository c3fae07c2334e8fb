import { DomainError } from '../../core/shared/domain-error.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** @throws DomainError `storage_full` when the disk is; else what `operation` throws. */
export async function orStorageFull<T>(operation: Promise<T>, message: string): Promise<T> {
  try {
    return await operation;
  } catch (cause) {
    if (!FULL.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
    throw new DomainError('storage_full', message, { cause });
  }
}
