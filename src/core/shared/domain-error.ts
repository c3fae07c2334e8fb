/**
 * Every error a caller can meet, in one table: HTTP status, OpenAI `type`, and whether trying again can help.
 *
 * OpenAI SDKs retry 408, 409, 429 and 5xx, so a permanent failure either uses another status or is
 * sent with `x-should-retry: false` (`retry: 'never'`). The table of docs/reference/errors.md is proven equal to this
 * one.
 */
export interface ErrorDefinition {
  readonly status: number;
  readonly type:
    'invalid_request_error' | 'rate_limit_error' | 'insufficient_quota' | 'server_error' | 'authentication_error';
  /** `never`: the same request fails again; `later`: worth trying after `retryAfterMs`. */
  readonly retry: 'never' | 'later';
  readonly help: string;
}

const invalid = (status: number, help: string): ErrorDefinition => ({
  status,
  type: 'invalid_request_error',
  retry: 'never',
  help,
});
const server = (status: number, retry: 'never' | 'later', help: string): ErrorDefinition => ({
  status,
  type: 'server_error',
  retry,
  help,
});

export const ERROR_REGISTRY = {
  invalid_value: invalid(400, 'A field has a value outside its range; the message names both.'),
  missing_required_parameter: invalid(400, 'A required field is absent or empty.'),
  too_many_files: invalid(400, 'More than one file part; send one file per request.'),
  empty_file: invalid(400, 'The uploaded file has 0 bytes.'),
  invalid_audio: invalid(400, 'The file is not audio this server can decode, or is damaged.'),
  audio_too_short: invalid(400, 'The audio holds no samples.'),
  file_url_refused: invalid(
    400,
    '`file_url` may not be fetched: its form, its host or port, a redirect of it, or a web page in place of audio.',
  ),
  file_url_unreachable: invalid(
    400,
    'The server behind `file_url` could not be reached, was too slow, or answered other than 200.',
  ),
  invalid_multipart: invalid(400, 'The multipart body is malformed or ends early.'),
  invalid_json: invalid(400, 'The JSON body cannot be parsed.'),
  model_kind_mismatch: invalid(400, 'The model exists but does another kind of work.'),
  unsupported_task: invalid(
    400,
    'The model cannot do this task, such as translation; the message names models that can.',
  ),
  unsupported_parameter: invalid(400, 'The field is valid but this model cannot honour it.'),
  context_length_exceeded: invalid(
    400,
    'Prompt and wanted answer can never fit into the model; the message has the numbers.',
  ),
  unknown_parameter: invalid(400, 'Realtime: an event has a field that nobody knows.'),
  input_audio_buffer_commit_empty: invalid(400, 'Realtime: a commit without audio since the last one.'),
  conversation_already_has_active_response: invalid(
    400,
    'Realtime: a response is still being spoken; cancel it first.',
  ),
  input_too_fast: invalid(400, 'Realtime: audio kept coming faster than real time after reading was slowed.'),
  response_cancel_not_active: invalid(400, 'Realtime: no such response is being spoken.'),
  voice_not_found: invalid(400, 'No such voice; the message lists the voices.'),
  too_many_lines: invalid(400, 'An input file of a batch has more lines than `batch.max_lines`.'),
  file_in_use: invalid(400, 'An unfinished batch reads the file; the message names it.'),
  upload_not_pending: invalid(400, 'The upload was completed or cancelled before, or its hour is over.'),
  upload_incomplete: invalid(
    400,
    'The parts are not what was announced: bytes, md5 or part ids; the message says which.',
  ),
  batch_not_cancellable: invalid(400, 'The batch has ended, or is writing its results.'),
  batch_not_finished: invalid(400, 'Only a batch that has ended can be deleted or tried again.'),
  nothing_to_retry: invalid(400, 'The batch has no failed lines to try again.'),
  webhook_refused: invalid(
    400,
    'The webhook may not lead there (its form, or its host or port), or the server has no secret to sign it with.',
  ),
  invalid_api_key: invalid(401, 'No API key, or one that is unknown, withdrawn or expired.'),
  missing_scope: invalid(403, 'The API key is valid but may not do this.'),
  origin_not_allowed: invalid(
    403,
    'A web page of that origin may not open a socket here, or change anything without a key; `server.cors_origins` names who may.',
  ),
  host_not_allowed: invalid(
    403,
    'Without API keys the server serves this machine only; `server.allowed_hosts` names other values of `Host`.',
  ),
  model_not_found: invalid(404, 'No model or alias of that name; `GET /v1/models` lists them.'),
  file_not_found: invalid(404, 'No such file; it may have been deleted or have expired.'),
  upload_not_found: invalid(404, 'No such upload.'),
  batch_not_found: invalid(404, 'No such batch.'),
  session_not_found: invalid(404, 'Realtime: no such session to resume, it ended, or its secret is another.'),
  request_not_found: invalid(404, 'No such request, or it ended too long ago.'),
  unknown_url: invalid(404, 'No such route.'),
  method_not_allowed: invalid(405, 'The route exists for another method; see `Allow`.'),
  duplicate_request_id: {
    status: 409,
    type: 'invalid_request_error',
    retry: 'later',
    help: 'A request with this X-Request-Id or Idempotency-Key is still running; a later try finds it done.',
  },
  request_not_finished: {
    status: 409,
    type: 'invalid_request_error',
    retry: 'later',
    help: 'The request has no answer yet; `GET /v1/requests/{id}` says where it is.',
  },
  expectation_failed: invalid(417, 'The header `Expect` names something else than `100-continue`.'),
  transfer_coding_unsupported: {
    status: 501,
    type: 'invalid_request_error',
    retry: 'never',
    help: 'The header `Transfer-Encoding` names another coding than `chunked`.',
  },
  file_too_large: invalid(
    413,
    'Audio, or what `file_url` names, above `server.upload_limit_bytes`; a file above the limit of its purpose or of a part.',
  ),
  storage_quota_exceeded: invalid(413, 'The files of the tenant would take more than `files.tenant_quota_bytes`.'),
  unsupported_media_type: invalid(
    415,
    'The Content-Type is not what the route takes, or the body has a Content-Encoding.',
  ),
  range_not_satisfiable: invalid(416, 'The file has no bytes in that range; see `Content-Range`.'),
  idempotency_key_reused: invalid(
    422,
    'The `Idempotency-Key`, or the X-Request-Id in its place, was used before for something else.',
  ),
  live_feed_limit: {
    status: 429,
    type: 'rate_limit_error',
    retry: 'later',
    help: 'Too many messages or rooms on one connection of the live feed.',
  },
  queue_full: {
    status: 429,
    type: 'rate_limit_error',
    retry: 'later',
    help: 'The queue is at its bound; Retry-After is backlog / drain rate.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retry: 'later',
    help: 'A limit per minute or of concurrent requests is reached; Retry-After says when there is room again.',
  },
  insufficient_quota: {
    status: 429,
    type: 'insufficient_quota',
    retry: 'never',
    help: 'The quota of the day is used up; a new one begins at midnight UTC.',
  },
  request_cancelled: invalid(499, 'The request was cancelled by its caller, by disconnect or by an operator.'),
  engine_failed: server(500, 'never', 'The engine failed on this input.'),
  internal_error: server(500, 'never', 'A defect of Switchyard; the log has the details under the request id.'),
  worker_lost: server(
    503,
    'later',
    'Workers were lost with the request, or refused it; the message says which, and why it was not sent again.',
  ),
  gateway_lost: server(503, 'later', 'Three gateways ended while they had the request, which nobody waited for.'),
  queue_timeout: server(503, 'later', 'No slot became free within `queue.timeout_ms`.'),
  no_worker: server(503, 'later', 'No worker of the model came up within `queue.timeout_ms`.'),
  model_unloaded: server(
    503,
    'later',
    'An operator unloaded the model; `POST /admin/v1/models/{id}/load` brings it back.',
  ),
  queue_unavailable: server(
    503,
    'later',
    'The queue in Redis cannot be reached, or is full; the request was not taken.',
  ),
  shutting_down: server(503, 'later', 'The server is draining; another replica or a later try will do.'),
  storage_unavailable: server(
    503,
    'later',
    'The database or blob store does not answer now, for files, batches and stored requests; with an `Idempotency-Key` trying again is safe.',
  ),
  storage_full: server(
    507,
    'never',
    'No room for the upload: in the data folder, or in the temporary folder of a worker; the message says which.',
  ),
  inference_timeout: server(
    504,
    'never',
    'The worker had the request longer than max(30 s, 2 x audio duration), or `inference.generation_*_ms` for text.',
  ),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERROR_REGISTRY;

export interface DomainErrorDetails {
  /** The field at fault, as the caller spelled it. */
  readonly param?: string;
  /** The code that another server gave for its refusal; its caller is told that one. Nothing of ours decides by it. */
  readonly foreignCode?: string | undefined;
  /** When to try again, for `retry: 'later'` codes. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Messages quote what the caller sent; an answer must not grow with it. In characters. */
const LONGEST_MESSAGE = 2000;
const LONGEST_PARAM = 200;
/** A word such as `content_policy_violation`; what else another server says there is not repeated. */
const FOREIGN_CODE = /^[A-Za-z0-9._-]{1,64}$/;

const shortened = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

/** The only error type that crosses module borders. */
export class DomainError extends Error {
  readonly param: string | undefined;
  readonly foreignCode: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: DomainErrorDetails = {},
  ) {
    super(shortened(message, LONGEST_MESSAGE), { cause: details.cause });
    this.name = 'DomainError';
    this.param = details.param === undefined ? undefined : shortened(details.param, LONGEST_PARAM);
    this.foreignCode = FOREIGN_CODE.test(details.foreignCode ?? '') ? details.foreignCode : undefined;
    this.retryAfterMs = details.retryAfterMs;
  }

  get definition(): ErrorDefinition {
    return ERROR_REGISTRY[this.code];
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_REGISTRY, value);
}
