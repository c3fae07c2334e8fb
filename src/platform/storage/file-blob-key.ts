import { createHash } from 'node:crypto';

/** Before every key of a file, and of nothing else. */
export const FILE_BLOBS = 'files/';

/** Where the bytes of a file lie. Tenants are hashed: their names may hold anything, and a bucket's listing tells nobody. */
export function fileBlobKey(tenant: string, fileId: string): string {
  const owner = createHash('sha256').update(tenant).digest('hex').slice(0, 16);
  return `${FILE_BLOBS}${owner}/${fileId}`;
}
