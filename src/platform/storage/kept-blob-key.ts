import { randomUUID } from 'node:crypto';

/** Before every key of a kept request's bytes, and of nothing else. */
export const KEPT_BLOBS = 'kept/';

/** Where the body and the answer of a request will lie, as its row names it: two keys below this. */
export const newStoredBlob = (): string => `${KEPT_BLOBS}${randomUUID()}`;

/** The name, as in a row, that a key lies below. */
export const keptBlobOf = (key: string): string => key.slice(0, key.lastIndexOf('/'));
