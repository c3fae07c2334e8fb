import {
  type KeptAnswer,
  type KeptLease,
  type KeptMode,
  type KeptRequest,
  type KeptStatus,
  type NewKeptRequest,
} from '../../core/kept/kept-request.port.js';
import { present } from './batch-row.js';
import { type KeptRequestRow } from './schema.js';

/** The row of a request that `owner` has just taken. */
export const keptRowOf = (request: NewKeptRequest, { owner, nowMs, leaseMs }: KeptLease): KeptRequestRow => ({
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

export const keptOf = (row: KeptRequestRow): KeptRequest => ({
  tenant: row.tenant,
  name: row.name,
  requestId: row.request_id,
  mode: row.mode as KeptMode,
  path: row.path,
  fingerprint: row.fingerprint,
  headers: JSON.parse(row.headers) as Readonly<Record<string, string>>,
  blob: row.blob,
  status: row.status as KeptStatus,
  leaseUntilMs: row.lease_until_ms,
  attempts: row.attempts,
  cancelling: row.cancelling === 1,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  ...present({
    endedAtMs: row.ended_at_ms,
    answer: row.answer === null ? null : (JSON.parse(row.answer) as KeptAnswer),
  }),
});
