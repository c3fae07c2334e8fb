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
  { owner, nowMs, leaseMs }: StoredLease,
): StoredRequestRow => ({
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
  lease_until_ms: nowMs + leaseMs,
  attempts: 1,
  cancelling: 0,
  created_at_ms: request.createdAtMs,
  ended_at_ms: null,
  expires_at_ms: request.expiresAtMs,
  answer: null,
});

export const storedRequestOf = (row: StoredRequestRow): StoredRequest => ({
  tenant: row.tenant,
  name: row.name,
  requestId: row.request_id,
  mode: row.mode as StoredMode,
  path: row.path,
  fingerprint: row.fingerprint,
  headers: JSON.parse(row.headers) as Readonly<Record<string, string>>,
  blob: row.blob,
  status: row.status as StoredStatus,
  leaseUntilMs: row.lease_until_ms,
  attempts: row.attempts,
  cancelling: row.cancelling === 1,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  ...present({
    endedAtMs: row.ended_at_ms,
    answer: row.answer === null ? null : (JSON.parse(row.answer) as StoredAnswer),
  }),
});
