import { createHash } from 'node:crypto';
import { bornAtMs } from '../database/time-ordered-id.js';

/** Before every key of a file, and of nothing else. */
export const FILE_BLOBS = 'files/';

/** Where the bytes of a file lie. Tenants are hashed: their names may hold anything, and a bucket's listing tells nobody. */
export function fileBlobKey(tenant: string, fileId: string): string {
  const owner = createHash('sha256').update(tenant).digest('hex').slice(0, 16);
  return `${FILE_BLOBS}${owner}/${fileId}`;
}

/**
 * Bytes whose name is `orphanAgeMs` old and stands in no row are garbage. A row may name them during the first half of that time
 * only, so that no row comes while they are being removed, however long a write, a pause or an outage was.
 */
export const mayBeNamed = (fileId: string, orphanAgeMs: number, nowMs: number): boolean =>
  nowMs - (bornAtMs(fileId) ?? nowMs) <= orphanAgeMs / 2;
