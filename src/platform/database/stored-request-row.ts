import {
  type StoredAnswer,
  type StoredLease,
  type StoredMode,
  type StoredRequest,
  type StoredStatus,
  type NewStoredRequest,
} from '../../core/request/stored-request.port.js';
import { present } from './batch-row.js';
import { type StoredRequestRow } from './schema.js';

/** The row of a request that `owner` has just taken. */
export const storedRequestRowOf = (
  request: NewStoredRequest,
  { owner }: StoredLease,
): Omit<StoredRequestRow, 'lease_until_ms'> => ({
  tenant: request.tenant,
  name: request.name,
  request_id: request.requestId,
  mode: request.mode,
  path: request.path,
  fingerprint: request.fingerprint,
  headers: JSON.stringify(request.headers),
  blob: request.blob,
  status: request.status,
  owner,
  attempts: 1,
  losses: 0,
  cancelling: 0,
  created_at_ms: request.createdAtMs,
  ended_at_ms: null,
  expires_at_ms: request.expiresAtMs,
  answer: null,
});

/** @param nowMs by the clock of the database; absent: whether the lease has lapsed was not asked */
export const storedRequestOf = (row: StoredRequestRow, nowMs = -1): StoredRequest => ({
  tenant: row.tenant,
  name: row.name,
  requestId: row.request_id,
  mode: row.mode as StoredMode,
  path: row.path,
  fingerprint: row.fingerprint,
  headers: JSON.parse(row.headers) as Readonly<Record<string, string>>,
  blob: row.blob,
  status: row.status as StoredStatus,
  lapsed: row.lease_until_ms <= nowMs,
  attempts: row.attempts,
  losses: row.losses,
  cancelling: row.cancelling === 1,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  ...present({
    endedAtMs: row.ended_at_ms,
    answer: row.answer === null ? null : (JSON.parse(row.answer) as StoredAnswer),
  }),
});
