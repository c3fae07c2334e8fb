import type { DomainError, ErrorCode } from '../../core/errors/domain-error.js';

/**
 * Every error code that a caller can receive, with HTTP status, OpenAI `type`, and
 * whether a retry can help.
 *
 * OpenAI SDKs retry 408, 409, 429 and 5xx, so a permanent failure either uses another
 * status or is sent with `x-should-retry: false` (`retry: 'never'`). `scripts/docs.mjs`
 * writes docs/reference/errors.md from this table.
 */
interface ErrorDefinition {
  readonly status: number;
  readonly type:
    | 'invalid_request_error'
    | 'rate_limit_error'
    | 'insufficient_quota'
    | 'server_error'
    | 'authentication_error';
  /**
   * `never`: the same request fails again; `later`: a retry after
   * `retryAfterMs` may succeed.
   */
  readonly retry: 'never' | 'later';
  readonly help: string;
}

const invalid = (
  status: number,
  help: string,
  retry: ErrorDefinition['retry'] = 'never',
): ErrorDefinition => ({
  status,
  type: 'invalid_request_error',
  retry,
  help,
});
const limited = (help: string): ErrorDefinition => ({
  status: 429,
  type: 'rate_limit_error',
  retry: 'later',
  help,
});
const server = (
  status: number,
  retry: ErrorDefinition['retry'],
  help: string,
): ErrorDefinition => ({
  status,
  type: 'server_error',
  retry,
  help,
});

export const ERROR_REGISTRY = {
  invalid_value: invalid(
    400,
    'A field has a value outside its range; the message names both.',
  ),
  missing_required_parameter: invalid(400, 'A required field is absent or empty.'),
  too_many_files: invalid(400, 'More than one file part; send one file per request.'),
  empty_file: invalid(400, 'The uploaded file has 0 bytes.'),
  invalid_audio: invalid(
    400,
    'The file is not audio this server can decode, or is damaged.',
  ),
  audio_too_short: invalid(400, 'The audio holds no samples.'),
  file_url_refused: invalid(
    400,
    '`file_url` is not allowed: its form, host, port or a redirect of it, or it returns a web page instead of audio.',
  ),
  file_url_unreachable: invalid(
    400,
    'The server of `file_url` cannot be reached, is too slow, or returns a status other than 200.',
  ),
  invalid_multipart: invalid(400, 'The multipart body is malformed or ends early.'),
  invalid_json: invalid(400, 'The JSON body cannot be parsed.'),
  model_kind_mismatch: invalid(400, 'The model exists but is of another kind.'),
  unsupported_task: invalid(
    400,
    'The model cannot do this task, such as translation; the message names models that can.',
  ),
  unsupported_parameter: invalid(
    400,
    'The field is valid but this model cannot honour it.',
  ),
  context_length_exceeded: invalid(
    400,
    'The prompt and the requested answer exceed the context of the model; the message has the numbers.',
  ),
  unknown_parameter: invalid(400, 'Realtime: an event has an unknown field.'),
  input_audio_buffer_commit_empty: invalid(
    400,
    'Realtime: no audio was sent since the last commit.',
  ),
  conversation_already_has_active_response: invalid(
    400,
    'Realtime: a response is in progress; cancel it first.',
  ),
  input_too_fast: invalid(
    400,
    'Realtime: audio still arrived faster than real time after reading was slowed.',
  ),
  response_cancel_not_active: invalid(400, 'Realtime: no such response is in progress.'),
  voice_not_found: invalid(400, 'No voice has that name; the message lists the voices.'),
  too_many_lines: invalid(
    400,
    'An input file of a batch has more lines than `batch.max_lines`.',
  ),
  file_in_use: invalid(400, 'An unfinished batch reads the file; the message names it.'),
  upload_not_pending: invalid(
    400,
    'The upload is completed, cancelled or expired (after 1 hour).',
  ),
  upload_incomplete: invalid(
    400,
    'The parts differ from what was announced: bytes, md5 or part ids; the message says which.',
  ),
  batch_not_cancellable: invalid(400, 'The batch has ended or is writing its results.'),
  batch_not_finished: invalid(
    400,
    'Only a batch that has ended can be deleted or retried.',
  ),
  nothing_to_retry: invalid(400, 'The batch has no failed lines to retry.'),
  webhook_refused: invalid(
    400,
    'The webhook URL is not allowed (its form, host or port), or the server has no secret to sign it with.',
  ),
  models_file_invalid: invalid(
    400,
    'The models file has errors; the message lists them. The models stay as they were.',
  ),
  invalid_api_key: invalid(
    401,
    'The API key or token is missing, unknown, revoked or expired.',
  ),
  missing_scope: invalid(403, 'The API key is valid but lacks the required scope.'),
  origin_not_allowed: invalid(
    403,
    'Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.',
  ),
  host_not_allowed: invalid(
    403,
    'Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.',
  ),
  model_not_found: invalid(
    404,
    'No model or alias has that name; `GET /v1/models` lists them.',
  ),
  worker_not_found: invalid(
    404,
    'No worker has that id; `GET /admin/v1/workers` lists them.',
  ),
  file_not_found: invalid(404, 'The file does not exist; it may be deleted or expired.'),
  upload_not_found: invalid(404, 'No such upload.'),
  batch_not_found: invalid(404, 'No such batch.'),
  previous_response_not_found: invalid(
    404,
    'The response that `previous_response_id` names, or one before it, was not stored, or is deleted or expired.',
  ),
  response_not_found: invalid(
    404,
    'The response does not exist, was not stored, or is deleted or expired.',
  ),
  session_not_found: invalid(
    404,
    'Realtime: the session to resume does not exist, has ended, or the secret does not match.',
  ),
  request_not_found: invalid(404, 'The request does not exist, or ended too long ago.'),
  key_not_found: invalid(
    404,
    'No such API key, or it is revoked or expired and cannot be rotated.',
  ),
  unknown_url: invalid(404, 'No such route.'),
  method_not_allowed: invalid(
    405,
    'The route does not support this method; see `Allow`.',
  ),
  worker_not_supervised: invalid(
    409,
    'This gateway did not start the worker, or the worker takes its requests from the shared queue by itself.',
  ),
  request_not_waiting: invalid(
    409,
    'Only a waiting request can be given another priority; this one runs, has ended, or is on its way into its queue.',
  ),
  model_addition_running: invalid(
    409,
    'A model of the catalogue is being added; one at a time.',
  ),
  key_is_from_file: invalid(
    409,
    'Keys of `auth.keys_file` and `auth.key` are changed there only.',
  ),
  too_many_keys: invalid(
    409,
    'The database holds 10,000 live API keys, the most there may be.',
  ),
  duplicate_request_id: invalid(
    409,
    'A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended.',
    'later',
  ),
  request_not_finished: invalid(
    409,
    'The request has no answer yet; `GET /v1/requests/{id}` returns its state.',
    'later',
  ),
  expectation_failed: invalid(
    417,
    'The header `Expect` has a value other than `100-continue`.',
  ),
  transfer_coding_unsupported: invalid(
    501,
    'The header `Transfer-Encoding` has a coding other than `chunked`.',
  ),
  file_too_large: invalid(
    413,
    'Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part.',
  ),
  storage_quota_exceeded: invalid(
    413,
    'Files or responses of the tenant exceed `files.tenant_quota_bytes` or `responses.tenant_quota_bytes`.',
  ),
  unsupported_media_type: invalid(
    415,
    'The route does not accept this Content-Type, or the body has a Content-Encoding.',
  ),
  range_not_satisfiable: invalid(
    416,
    'The file has no bytes in that range; see `Content-Range`.',
  ),
  idempotency_key_reused: invalid(
    422,
    'The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request.',
  ),
  live_feed_limit: limited(
    'Too many messages or rooms on one connection of the live feed.',
  ),
  queue_full: limited(
    'The queue is full; Retry-After says when there should be room, from the forecast.',
  ),
  rate_limit_exceeded: limited(
    'A limit per minute or of concurrent requests is reached; Retry-After says when to retry.',
  ),
  insufficient_quota: {
    status: 429,
    type: 'insufficient_quota',
    retry: 'never',
    help: 'The daily quota is used up; it resets at 00:00 UTC.',
  },
  request_cancelled: invalid(
    499,
    'The caller, a disconnect or an operator cancelled the request.',
  ),
  engine_failed: server(500, 'never', 'The engine failed on this input.'),
  internal_error: server(
    500,
    'never',
    'A bug in Switchyard; the log has the details under the request id.',
  ),
  worker_lost: server(
    503,
    'later',
    'Workers were lost with the request or rejected it; the message says which, and why it was not retried.',
  ),
  worker_crashed: server(
    500,
    'never',
    'The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.',
  ),
  gateway_lost: server(
    503,
    'later',
    'Three gateways ended while they ran this async request.',
  ),
  queue_timeout: server(503, 'later', 'No slot became free within `queue.timeout_ms`.'),
  deadline_unreachable: server(
    503,
    'never',
    'The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.',
  ),
  deadline_missed: server(
    504,
    'never',
    'The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.',
  ),
  no_worker: server(
    503,
    'later',
    'No worker of the model became ready within `queue.timeout_ms`.',
  ),
  upstream_unavailable: server(
    503,
    'later',
    'The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.',
  ),
  model_unloaded: server(
    503,
    'later',
    'An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.',
  ),
  model_load_failed: server(
    503,
    'never',
    'No worker of the model can start; the message says why. It is served as soon as that is repaired.',
  ),
  queue_unavailable: server(
    503,
    'later',
    'The queue in Redis is full or cannot be reached; the request was not accepted.',
  ),
  issuer_unavailable: server(
    503,
    'later',
    'The issuer of `auth.oidc_issuer` does not return its keys, so its tokens cannot be checked; API keys work.',
  ),
  shutting_down: server(
    503,
    'later',
    'The server is draining; use another replica or retry later.',
  ),
  storage_unavailable: server(
    503,
    'later',
    'The database or blob store of files, batches and stored requests does not respond or takes no writes; ' +
      'with an `Idempotency-Key`, a retry is safe.',
  ),
  storage_full: server(
    507,
    'never',
    'No space for the upload, in the data folder or the temporary folder of a worker; the message says which.',
  ),
  inference_timeout: server(
    504,
    'never',
    'The worker took longer than max(30 s, 2 x audio duration), or `inference.generation_*_ms` for text.',
  ),
} as const satisfies Record<ErrorCode, ErrorDefinition>;

export const errorDefinition = ({ code }: DomainError): ErrorDefinition =>
  ERROR_REGISTRY[code];

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_REGISTRY, value);
}
