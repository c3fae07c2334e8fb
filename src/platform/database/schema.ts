import { type Generated } from 'kysely';

/**
 * What a column holds, and the type of its cells; `?`: or NULL. `key`: text, the primary
 * key. `json`: a structured value as text. `flag`: 0 or 1. `counter`: a whole number, 0 in
 * a new row.
 */
interface Cells {
  key: string;
  unique: string;
  text: string;
  bigint: number;
  json: string;
  flag: number;
  counter: Generated<number>;
  'text?': string | null;
  'bigint?': number | null;
  'json?': string | null;
}

export type ColumnType = keyof Cells;

/**
 * Tables of both dialects, as the migrations leave them: a column that a later one adds is
 * the last of its table. Instants and sizes are whole numbers, structured values are JSON
 * as text: one set of queries (D-13).
 */
export const TABLES = {
  files: {
    id: 'key',
    tenant: 'text',
    purpose: 'text',
    filename: 'text',
    bytes: 'bigint',
    created_at_ms: 'bigint',
    expires_at_ms: 'bigint?',
    blob_key: 'text',
    sha256: 'text',
    // The batch that made it; null: a caller.
    batch_id: 'text?',
  },
  uploads: {
    id: 'key',
    tenant: 'text',
    purpose: 'text',
    filename: 'text',
    mime_type: 'text',
    bytes: 'bigint',
    status: 'text',
    created_at_ms: 'bigint',
    expires_at_ms: 'bigint',
    // Seconds after completion at which the file goes; null: never.
    file_expires_after_s: 'bigint?',
    file_id: 'text?',
  },
  upload_parts: {
    id: 'key',
    upload_id: 'text',
    blob_key: 'text',
    bytes: 'bigint',
    created_at_ms: 'bigint',
  },
  batches: {
    id: 'key',
    tenant: 'text',
    endpoint: 'text',
    input_file_id: 'text',
    completion_window: 'text',
    status: 'text',
    created_at_ms: 'bigint',
    expires_at_ms: 'bigint',
    // Status → when it was reached.
    reached_at_ms: 'json',
    total: 'bigint',
    completed: 'bigint',
    failed: 'bigint',
    usage: 'json?',
    model: 'text?',
    problems: 'json',
    output_file_id: 'text?',
    error_file_id: 'text?',
    metadata: 'json',
    output_expires_after_s: 'bigint?',
    retry_of: 'text?',
    webhook_url: 'text?',
    idempotency_key: 'text?',
    lease_owner: 'text?',
    // 0: no holder.
    lease_until_ms: 'counter',
    // Grows with every claim; every write of a holder names its own (D-13).
    epoch: 'counter',
    traceparent: 'text?',
    // null: no keys were asked for.
    terms: 'json?',
  },
  webhook_outbox: {
    id: 'key',
    job_id: 'text',
    type: 'text',
    url: 'text',
    attempts: 'bigint',
    created_at_ms: 'bigint',
    // Not sent before; moved ahead while a gateway sends it.
    due_at_ms: 'bigint',
  },
  kept_requests: {
    tenant: 'text',
    name: 'text',
    request_id: 'text',
    mode: 'text',
    path: 'text',
    fingerprint: 'text',
    headers: 'json',
    blob: 'text',
    status: 'text',
    // The gateway that runs it; null: none.
    owner: 'text?',
    lease_until_ms: 'bigint',
    attempts: 'bigint',
    cancelling: 'flag',
    created_at_ms: 'bigint',
    ended_at_ms: 'bigint?',
    expires_at_ms: 'bigint',
    // Status and headers.
    answer: 'json?',
    // Gateways that were lost while they had it.
    losses: 'bigint',
  },
  api_keys: {
    id: 'key',
    name: 'text',
    tenant: 'text',
    scopes: 'json',
    models: 'json?',
    limits: 'json?',
    default_priority: 'text?',
    sha256: 'unique',
    prefix: 'text',
    replaced_sha256: 'text?',
    replaced_until_ms: 'bigint?',
    created_at_ms: 'bigint',
    expires_at_ms: 'bigint?',
    last_used_at_ms: 'bigint?',
    revoked_at_ms: 'bigint?',
  },
  ended_sessions: {
    sha256: 'key',
    ended_at_ms: 'bigint',
    expires_at_ms: 'bigint',
  },
  usage: {
    day: 'text',
    tenant: 'text',
    key_id: 'text',
    model: 'text',
    requests: 'bigint',
    completed: 'bigint',
    failed: 'bigint',
    cancelled: 'bigint',
    audio_ms: 'bigint',
    characters: 'bigint',
    input_tokens: 'bigint',
    output_tokens: 'bigint',
    device_ms: 'bigint',
  },
  audit: {
    id: 'key',
    at_ms: 'bigint',
    tenant: 'text',
    key_id: 'text',
    action: 'text',
    target: 'text',
    detail: 'text',
    request_id: 'text',
    outcome: 'text',
  },
  responses: {
    tenant: 'text',
    id: 'text',
    status: 'text',
    previous_id: 'text?',
    chain_length: 'bigint',
    chain_bytes: 'bigint',
    // JSON, as are `input` and `response`; null: it has ended, or does not run
    // in the background.
    request: 'text?',
    input: 'text',
    response: 'text',
    created_at_ms: 'bigint',
    expires_at_ms: 'bigint',
    epoch: 'bigint',
    next_sequence: 'bigint',
    // Its events are removed then.
    events_until_ms: 'bigint',
    // Of `input`, `response` and the output that came later.
    bytes: 'bigint',
  },
  response_events: {
    tenant: 'text',
    response_id: 'text',
    // Numbers of the first and last event of the row.
    first_sequence: 'bigint',
    last_sequence: 'bigint',
    // JSON objects, one per line.
    events: 'text',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;

export type TableName = keyof typeof TABLES;

type Tables = {
  [T in TableName]: {
    -readonly [C in keyof (typeof TABLES)[T]]: (typeof TABLES)[T][C] extends ColumnType
      ? Cells[(typeof TABLES)[T][C]]
      : never;
  };
};

export interface Database extends Tables {
  /** One row, with id 1. */
  api_key_version: { id: number; version: number };
}
