import { type Generated, type Selectable } from 'kysely';
import { type Page, type PageRequest } from '../../core/jobs/job.ports.js';
import {
  type ApiKeysTable,
  type ApiKeyVersionTable,
  type AuditTable,
  type EndedSessionsTable,
  type UsageTable,
} from './access-tables.js';
import { type ResponseEventsTable, type ResponsesTable } from './response-tables.js';

/** Rows are read one beyond the limit, which shows whether more follow. */
export const pageOf = <Row, T>(rows: readonly Row[], limit: number, read: (row: Row) => T): Page<T> => ({
  data: rows.slice(0, limit).map(read),
  hasMore: rows.length > limit,
});

/** Ids grow with time: newest first is by descending id. */
export const idOrder = ({ order = 'desc' }: PageRequest): { direction: 'asc' | 'desc'; beyond: '>' | '<' } => ({
  direction: order,
  beyond: order === 'asc' ? '>' : '<',
});

/**
 * Tables of both dialects. Instants and sizes are whole numbers, structured values are JSON as text: one set of queries
 * (D-13).
 */
export interface Database {
  files: FilesTable;
  uploads: UploadsTable;
  upload_parts: UploadPartsTable;
  batches: BatchesTable;
  webhook_outbox: WebhookOutboxTable;
  kept_requests: StoredRequestsTable;
  api_keys: ApiKeysTable;
  api_key_version: ApiKeyVersionTable;
  ended_sessions: EndedSessionsTable;
  usage: UsageTable;
  audit: AuditTable;
  responses: ResponsesTable;
  response_events: ResponseEventsTable;
}

export interface FilesTable {
  id: string;
  tenant: string;
  purpose: string;
  filename: string;
  bytes: number;
  created_at_ms: number;
  expires_at_ms: number | null;
  blob_key: string;
  sha256: string;
  /** The batch that made it; null: a caller. */
  batch_id: string | null;
}

export interface UploadsTable {
  id: string;
  tenant: string;
  purpose: string;
  filename: string;
  mime_type: string;
  bytes: number;
  status: string;
  created_at_ms: number;
  expires_at_ms: number;
  /** Seconds after completion at which the file goes; null: never. */
  file_expires_after_s: number | null;
  file_id: string | null;
}

export interface UploadPartsTable {
  id: string;
  upload_id: string;
  blob_key: string;
  bytes: number;
  created_at_ms: number;
}

export interface BatchesTable {
  id: string;
  tenant: string;
  endpoint: string;
  input_file_id: string;
  completion_window: string;
  status: string;
  created_at_ms: number;
  expires_at_ms: number;
  /** JSON: status → when it was reached. */
  reached_at_ms: string;
  total: number;
  completed: number;
  failed: number;
  usage: string | null;
  model: string | null;
  problems: string;
  output_file_id: string | null;
  error_file_id: string | null;
  metadata: string;
  output_expires_after_s: number | null;
  retry_of: string | null;
  webhook_url: string | null;
  traceparent: string | null;
  /** JSON; null: no keys were asked for. */
  terms: string | null;
  idempotency_key: string | null;
  lease_owner: string | null;
  /** 0: no holder. */
  lease_until_ms: Generated<number>;
  /** Grows with every claim; every write of a holder names its own (D-13). */
  epoch: Generated<number>;
}

export interface WebhookOutboxTable {
  id: string;
  job_id: string;
  type: string;
  url: string;
  attempts: number;
  created_at_ms: number;
  /** Not sent before; moved ahead while a gateway sends it. */
  due_at_ms: number;
}

export interface StoredRequestsTable {
  tenant: string;
  name: string;
  request_id: string;
  mode: string;
  path: string;
  fingerprint: string;
  /** JSON. */
  headers: string;
  blob: string;
  status: string;
  /** The gateway that runs it; null: none. */
  owner: string | null;
  lease_until_ms: number;
  attempts: number;
  losses: number;
  /** 0 or 1. */
  cancelling: number;
  created_at_ms: number;
  ended_at_ms: number | null;
  expires_at_ms: number;
  /** JSON: status and headers. */
  answer: string | null;
}

export type BatchRow = Selectable<BatchesTable>;
export type FileRow = Selectable<FilesTable>;
export type OutboxRow = Selectable<WebhookOutboxTable>;
export type StoredRequestRow = Selectable<StoredRequestsTable>;
