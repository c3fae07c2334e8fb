import type { ColumnType as Cell, Generated } from 'kysely';
import type { AuditEntry } from '../../core/access/audit-entry.js';
import type { StoredKey } from '../../core/access/stored-key.js';
import type { UsageGroup, UsageSums } from '../../core/access/usage-row.js';
import type { BatchJob, RequestCounts } from '../../core/jobs/batch-job.js';
import type { OutboxEntry, StoredFile, Upload, UploadPart } from '../../core/jobs/job.ports.js';
import type {
  ResponseRecord,
  ResponseRef,
  ResponseTexts,
} from '../../core/request/response-record.js';
import type { StoredRequest } from '../../core/request/stored-request.js';

/**
 * What a column holds; `?`: or NULL. `key`: text, the primary key. `json`: a structured
 * value, stored as text. `flag`: stored as 0 or 1. `counter`: a whole number, 0 in a new
 * row.
 */
export type ColumnType =
  | 'key'
  | 'unique'
  | 'text'
  | 'bigint'
  | 'json'
  | 'flag'
  | 'counter'
  | 'text?'
  | 'bigint?'
  | 'json?';

/**
 * Tables of both dialects, as the migrations leave them: a column that a later one adds is
 * the last of its table. A column has the name of its field in snake case. Instants and sizes are whole numbers, structured values are JSON
 * as text: one set of queries (D-13).
 */
export const TABLES = {
  files: {
    id: 'key',
    tenant: 'text',
    purpose: 'text',
    filename: 'text',
    bytes: 'bigint',
    createdAtMs: 'bigint',
    expiresAtMs: 'bigint?',
    blobKey: 'text',
    sha256: 'text',
    // The batch that made it; null: a caller.
    batchId: 'text?',
  },
  uploads: {
    id: 'key',
    tenant: 'text',
    purpose: 'text',
    filename: 'text',
    mimeType: 'text',
    bytes: 'bigint',
    status: 'text',
    createdAtMs: 'bigint',
    expiresAtMs: 'bigint',
    // Seconds after completion at which the file goes; null: never.
    fileExpiresAfterS: 'bigint?',
    fileId: 'text?',
  },
  upload_parts: {
    id: 'key',
    uploadId: 'text',
    blobKey: 'text',
    bytes: 'bigint',
    createdAtMs: 'bigint',
  },
  batches: {
    id: 'key',
    tenant: 'text',
    endpoint: 'text',
    inputFileId: 'text',
    completionWindow: 'text',
    status: 'text',
    createdAtMs: 'bigint',
    expiresAtMs: 'bigint',
    // Status → when it was reached.
    reachedAtMs: 'json',
    total: 'bigint',
    completed: 'bigint',
    failed: 'bigint',
    usage: 'json?',
    model: 'text?',
    problems: 'json',
    outputFileId: 'text?',
    errorFileId: 'text?',
    metadata: 'json',
    outputExpiresAfterS: 'bigint?',
    retryOf: 'text?',
    webhookUrl: 'text?',
    idempotencyKey: 'text?',
    leaseOwner: 'text?',
    // 0: no holder.
    leaseUntilMs: 'counter',
    // Grows with every claim; every write of a holder names its own (D-13).
    epoch: 'counter',
    traceparent: 'text?',
    // null: no keys were asked for.
    terms: 'json?',
  },
  webhook_outbox: {
    id: 'key',
    jobId: 'text',
    type: 'text',
    url: 'text',
    attempts: 'bigint',
    createdAtMs: 'bigint',
    // Not sent before; moved ahead while a gateway sends it.
    dueAtMs: 'bigint',
  },
  kept_requests: {
    tenant: 'text',
    name: 'text',
    requestId: 'text',
    mode: 'text',
    path: 'text',
    fingerprint: 'text',
    headers: 'json',
    blob: 'text',
    status: 'text',
    // The gateway that runs it; null: none.
    owner: 'text?',
    leaseUntilMs: 'bigint',
    attempts: 'bigint',
    cancelling: 'flag',
    createdAtMs: 'bigint',
    endedAtMs: 'bigint?',
    expiresAtMs: 'bigint',
    // Status and headers.
    answer: 'json?',
    // Gateways that were lost while they had it.
    losses: 'bigint',
    body: 'json?',
  },
  api_keys: {
    id: 'key',
    name: 'text',
    tenant: 'text',
    scopes: 'json',
    models: 'json?',
    limits: 'json?',
    defaultPriority: 'text?',
    sha256: 'unique',
    prefix: 'text',
    replacedSha256: 'text?',
    replacedUntilMs: 'bigint?',
    createdAtMs: 'bigint',
    expiresAtMs: 'bigint?',
    lastUsedAtMs: 'bigint?',
    revokedAtMs: 'bigint?',
  },
  ended_sessions: {
    sha256: 'key',
    endedAtMs: 'bigint',
    expiresAtMs: 'bigint',
  },
  usage: {
    day: 'text',
    tenant: 'text',
    keyId: 'text',
    model: 'text',
    requests: 'bigint',
    completed: 'bigint',
    failed: 'bigint',
    cancelled: 'bigint',
    audioMs: 'bigint',
    characters: 'bigint',
    inputTokens: 'bigint',
    outputTokens: 'bigint',
    deviceMs: 'bigint',
  },
  audit: {
    id: 'key',
    atMs: 'bigint',
    tenant: 'text',
    keyId: 'text',
    action: 'text',
    target: 'text',
    detail: 'text',
    requestId: 'text',
    outcome: 'text',
  },
  responses: {
    tenant: 'text',
    id: 'text',
    status: 'text',
    previousId: 'text?',
    chainLength: 'bigint',
    chainBytes: 'bigint',
    createdAtMs: 'bigint',
    expiresAtMs: 'bigint',
    epoch: 'bigint',
    nextSequence: 'bigint',
    // Its events are removed then.
    eventsUntilMs: 'bigint',
    // Of its texts, and of the output that came later.
    bytes: 'bigint',
  },
  // Apart from what is polled and updated: SQLite walks and rewrites whole rows.
  response_texts: {
    tenant: 'text',
    id: 'text',
    // JSON, as are the others; null: it has ended, or does not run in the background.
    request: 'text?',
    input: 'text',
    response: 'text',
  },
  response_events: {
    tenant: 'text',
    responseId: 'text',
    // Numbers of the first and last event of the row.
    firstSequence: 'bigint',
    lastSequence: 'bigint',
    // JSON objects, one per line.
    events: 'text',
  },
} as const satisfies {
  readonly [T in TableName]: Readonly<Record<keyof Database[T], ColumnType>>;
};

export type TableName = Exclude<keyof Database, 'api_key_version'>;

/** The cells of records. NULL in the database is absent in a record. */
type Columns<R> = {
  -readonly [Name in keyof R]-?: undefined extends R[Name] ? OrNull<R[Name]> : R[Name];
};

type OrNull<T> = Cell<T, T | null, T | null>;

/** What the tables hold: records, and columns that only their stores read. */
export interface Database {
  files: Columns<StoredFile & { batchId?: string }>;
  uploads: Columns<Upload>;
  upload_parts: Columns<UploadPart>;
  batches: Columns<JobRow & { idempotencyKey?: string; leaseOwner?: string }> & {
    leaseUntilMs: Generated<number>;
    epoch: Generated<number>;
  };
  webhook_outbox: Columns<OutboxEntry & { dueAtMs: number }>;
  kept_requests: Columns<Omit<StoredRequest, 'lapsed'> & { owner?: string; leaseUntilMs: number }>;
  api_keys: Columns<KeyRow>;
  ended_sessions: Columns<EndedSession>;
  usage: Columns<Omit<UsageGroup, 'key'> & { keyId: string } & UsageSums>;
  audit: Columns<AuditEntry>;
  responses: Columns<
    Omit<ResponseRecord, keyof ResponseTexts> & { eventsUntilMs: number; bytes: number }
  >;
  response_texts: Columns<ResponseRef & ResponseTexts>;
  response_events: {
    tenant: string;
    responseId: string;
    firstSequence: number;
    lastSequence: number;
    events: string;
  };
  /** One row, with id 1. */
  api_key_version: { id: number; version: number };
}

export type JobRow = Omit<BatchJob, 'counts' | 'webhook'> &
  RequestCounts & { readonly webhookUrl?: string };

export type KeyRow = Omit<StoredKey, 'replaced'> & {
  readonly replacedSha256?: string;
  readonly replacedUntilMs?: number;
};

/** A session of the console after its sign-out. */
export interface EndedSession {
  /** SHA-256 of its token, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly endedAtMs: number;
  readonly expiresAtMs: number;
}
