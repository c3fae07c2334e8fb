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

/** What these codes mean, by code. */
type Helps<C extends ErrorCode> = Readonly<Record<C, string>>;

const alike = <C extends ErrorCode>(definition: Omit<ErrorDefinition, 'help'>, helps: Helps<C>) =>
  Object.fromEntries(
    Object.entries(helps).map(([code, help]) => [code, { ...definition, help }]),
  ) as Record<C, ErrorDefinition>;

const invalid = <C extends ErrorCode>(
  status: number,
  helps: Helps<C>,
  retry: ErrorDefinition['retry'] = 'never',
) => alike({ status, type: 'invalid_request_error', retry }, helps);
const limited = <C extends ErrorCode>(helps: Helps<C>) =>
  alike({ status: 429, type: 'rate_limit_error', retry: 'later' }, helps);
const server = <C extends ErrorCode>(
  status: number,
  retry: ErrorDefinition['retry'],
  helps: Helps<C>,
) => alike({ status, type: 'server_error', retry }, helps);

export const ERROR_REGISTRY: Readonly<Record<ErrorCode, ErrorDefinition>> = {
  ...invalid(400, {
    invalid_value: 'A field has a value outside its range; the message names both.',
    missing_required_parameter: 'A required field is absent or empty.',
    too_many_files: 'More than one file part; send one file per request.',
    empty_file: 'The uploaded file has 0 bytes.',
    invalid_audio: 'The file is not audio this server can decode, or is damaged.',
    audio_too_short: 'The audio holds no samples.',
    file_url_refused:
      '`file_url` is not allowed: its form, host, port or a redirect of it, or it returns a web page instead of audio.',
    file_url_unreachable:
      'The server of `file_url` cannot be reached, is too slow, or returns a status other than 200.',
    invalid_multipart: 'The multipart body is malformed or ends early.',
    invalid_json: 'The JSON body cannot be parsed.',
    model_kind_mismatch: 'The model exists but is of another kind.',
    unsupported_task:
      'The model cannot do this task, such as translation; the message names models that can.',
    unsupported_parameter: 'The field is valid but this model cannot honour it.',
    context_length_exceeded:
      'The prompt and the requested answer exceed the context of the model; the message has the numbers.',
    unknown_parameter: 'Realtime: an event has an unknown field.',
    input_audio_buffer_commit_empty: 'Realtime: no audio was sent since the last commit.',
    conversation_already_has_active_response:
      'Realtime: a response is in progress; cancel it first.',
    input_too_fast: 'Realtime: audio still arrived faster than real time after reading was slowed.',
    response_cancel_not_active: 'Realtime: no such response is in progress.',
    voice_not_found: 'No voice has that name; the message lists the voices.',
    too_many_lines: 'An input file of a batch has more lines than `batch.max_lines`.',
    file_in_use: 'An unfinished batch reads the file; the message names it.',
    upload_not_pending: 'The upload is completed, cancelled or expired (after 1 hour).',
    upload_incomplete:
      'The parts differ from what was announced: bytes, md5 or part ids; the message says which.',
    batch_not_cancellable: 'The batch has ended or is writing its results.',
    batch_not_finished: 'Only a batch that has ended can be deleted or retried.',
    nothing_to_retry: 'The batch has no failed lines to retry.',
    webhook_refused:
      'The webhook URL is not allowed (its form, host or port), or the server has no secret to sign it with.',
    models_file_invalid:
      'The models file has errors; the message lists them. The models stay as they were.',
  }),
  ...invalid(401, {
    invalid_api_key: 'The API key or token is missing, unknown, revoked or expired.',
  }),
  ...invalid(403, {
    missing_scope: 'The API key is valid but lacks the required scope.',
    origin_not_allowed:
      'Pages of this origin may not open sockets, or change anything without a key; see `server.cors_origins`.',
    host_not_allowed:
      'Without API keys, the server accepts local requests only; `server.allowed_hosts` lists other `Host` values.',
  }),
  ...invalid(404, {
    model_not_found: 'No model or alias has that name; `GET /v1/models` lists them.',
    worker_not_found: 'No worker has that id; `GET /admin/v1/workers` lists them.',
    file_not_found: 'The file does not exist; it may be deleted or expired.',
    upload_not_found: 'No such upload.',
    batch_not_found: 'No such batch.',
    previous_response_not_found:
      'The response that `previous_response_id` names, or one before it, was not stored, or is deleted or expired.',
    response_not_found: 'The response does not exist, was not stored, or is deleted or expired.',
    session_not_found:
      'Realtime: the session to resume does not exist, has ended, or the secret does not match.',
    request_not_found: 'The request does not exist, or ended too long ago.',
    key_not_found: 'No such API key, or it is revoked or expired and cannot be rotated.',
    unknown_url: 'No such route.',
  }),
  ...invalid(405, {
    method_not_allowed: 'The route does not support this method; see `Allow`.',
  }),
  ...invalid(409, {
    worker_not_supervised:
      'This gateway did not start the worker or does not load the model, or the worker takes its requests from the ' +
      'shared queue by itself.',
    request_not_waiting:
      'Only a waiting request can be given another priority; this one runs, has ended, or is on its way into its queue.',
    model_addition_running: 'A model of the catalogue is being added; one at a time.',
    key_is_from_file: 'Keys of `auth.keys_file` and `auth.key` are changed there only.',
    too_many_keys: 'The database holds 10,000 live API keys, the most there may be.',
  }),
  ...invalid(
    409,
    {
      duplicate_request_id:
        'A request with this X-Request-Id or Idempotency-Key is still running; retry after it has ended.',
      request_not_finished:
        'The request has no answer yet; `GET /v1/requests/{id}` returns its state.',
    },
    'later',
  ),
  ...invalid(417, {
    expectation_failed: 'The header `Expect` has a value other than `100-continue`.',
  }),
  ...invalid(501, {
    transfer_coding_unsupported:
      'The header `Transfer-Encoding` has a coding other than `chunked`.',
  }),
  ...invalid(413, {
    file_too_large:
      'Audio (also of `file_url`) exceeds `server.upload_limit_bytes`, or a file the limit of its purpose or part.',
    storage_quota_exceeded:
      'Files or responses of the tenant exceed `files.tenant_quota_bytes` or `responses.tenant_quota_bytes`.',
  }),
  ...invalid(415, {
    unsupported_media_type:
      'The route does not accept this Content-Type, or the body has a Content-Encoding.',
  }),
  ...invalid(416, {
    range_not_satisfiable: 'The file has no bytes in that range; see `Content-Range`.',
  }),
  ...invalid(422, {
    idempotency_key_reused:
      'The `Idempotency-Key`, or the X-Request-Id in its place, was used for a different request.',
  }),
  ...limited({
    live_feed_limit: 'Too many messages or rooms on one connection of the live feed.',
    queue_full: 'The queue is full; Retry-After says when there should be room, from the forecast.',
    rate_limit_exceeded:
      'A limit per minute or of concurrent requests is reached; Retry-After says when to retry.',
  }),
  insufficient_quota: {
    status: 429,
    type: 'insufficient_quota',
    retry: 'never',
    help: 'The daily quota is used up; it resets at 00:00 UTC.',
  },
  ...invalid(499, {
    request_cancelled: 'The caller, a disconnect or an operator cancelled the request.',
  }),
  ...server(500, 'never', {
    engine_failed: 'The engine failed on this input.',
    internal_error: 'A bug in Switchyard; the log has the details under the request id.',
  }),
  ...server(503, 'later', {
    worker_lost:
      'Workers were lost with the request or rejected it; the message says which, and why it was not retried.',
  }),
  ...server(500, 'never', {
    worker_crashed:
      'The request ended a worker process or engine thread twice while nothing else ran there: its input is at fault.',
  }),
  ...server(503, 'later', {
    gateway_lost: 'Three gateways ended while they ran this async request.',
    queue_timeout: 'No slot became free within `queue.timeout_ms`.',
  }),
  ...server(503, 'never', {
    deadline_unreachable:
      'The request would miss its `X-Deadline-Ms` or `x-slo-ttft-ms` and was not queued; the message has the estimate.',
  }),
  ...server(504, 'never', {
    deadline_missed:
      'The request was queued and could no longer meet its `X-Deadline-Ms` or `x-slo-ttft-ms`; it was not started.',
  }),
  ...server(503, 'later', {
    no_worker: 'No worker of the model became ready within `queue.timeout_ms`.',
    upstream_unavailable:
      'The server that `engine: openai-http` passes requests to could not be reached within `queue.timeout_ms`.',
    model_unloaded:
      'An operator unloaded the model; `POST /admin/v1/models/{id}/load` loads it again.',
  }),
  ...server(503, 'never', {
    model_load_failed:
      'No worker of the model can start; the message says why. It is served as soon as that is repaired.',
  }),
  ...server(503, 'later', {
    queue_unavailable:
      'The queue in Redis is full or cannot be reached; the request was not accepted.',
    issuer_unavailable:
      'The issuer of `auth.oidc_issuer` does not return its keys, so its tokens cannot be checked; API keys work.',
    shutting_down: 'The server is draining; use another replica or retry later.',
    storage_unavailable:
      'The database or blob store of files, batches and stored requests does not respond or takes no writes; ' +
      'with an `Idempotency-Key`, a retry is safe.',
  }),
  ...server(507, 'never', {
    storage_full:
      'No space for the upload, in the data folder or the temporary folder of a worker; the message says which.',
  }),
  ...server(504, 'never', {
    inference_timeout:
      'The device computed for longer than max(30 s, 2 x audio duration), in a group than all members together may ' +
      'take, or text took longer than `inference.generation_*_ms`. Waiting does not count.',
  }),
};

export const errorDefinition = ({ code }: DomainError): ErrorDefinition => ERROR_REGISTRY[code];

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_REGISTRY, value);
}

/** HTTP status of a code; undefined: there is no such code. */
export const httpStatusOf = (code: string): number | undefined =>
  isErrorCode(code) ? ERROR_REGISTRY[code].status : undefined;
