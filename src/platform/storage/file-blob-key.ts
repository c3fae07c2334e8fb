import { createHash } from 'node:crypto';

/** Everything under it is a file's bytes or nobody's. */
export const FILE_BLOBS = 'files/';

/** Where the bytes of a file lie. Tenants are names that people chose, so a hash of theirs is in the key. */
export function fileBlobKey(tenant: string, fileId: string): string {
  return `${FILE_BLOBS}${createHash('sha256').update(tenant).digest('hex').slice(0, 16)}/${fileId}`;
}
