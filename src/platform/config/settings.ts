import { SERVER_SETTINGS } from './server-settings.js';
import {
  bytes,
  choice,
  count,
  DAY_MS,
  decimal,
  flag,
  GIB,
  MIB,
  ms,
  type SettingDefinition,
  type SettingValue,
  text,
  type ValueOf,
} from './setting-definition.js';
import { PULL_SETTINGS, QUEUE_SETTINGS, REDIS_SETTINGS, WORKER_SETTINGS } from './worker-settings.js';

/**
 * The one table of settings. `config/switchyard.yaml`, the `SWITCHYARD_…` variables, `config:print`, the manual and the
 * type `Settings` all come from it; specs prove them equal.
 */
export const SETTINGS_TABLE = {
  ...SERVER_SETTINGS,
  'limits.requests_per_minute': count(0, 0, 1e9, 'Requests of one tenant in a minute; 0: no limit.'),
  'limits.tokens_per_minute': count(0, 0, 1e9, 'Tokens of one tenant in a minute, prompts and answers; 0: no limit.'),
  'limits.audio_seconds_per_minute': count(
    0,
    0,
    1e9,
    'Audio of one tenant in a minute, heard and spoken; 0: no limit.',
  ),
  'limits.concurrent_requests': count(0, 0, 1e9, 'Requests and live sessions of one tenant at a time; 0: no limit.'),
  'limits.requests_per_day': count(0, 0, 1e9, 'Requests of one tenant in a day of UTC; 0: no limit.'),
  'requests.idempotency': choice(
    ['auto', 'key', 'request_id', 'off'],
    'auto',
    'key: an Idempotency-Key answers retries alike; request_id: X-Request-Id too; auto: that with a database.url.',
  ),
  'requests.keep_ms': ms(DAY_MS, 1000, 30 * DAY_MS, 'How long answers are kept for retries and for respond-async.'),
  'requests.join_ms': ms(60_000, 0, DAY_MS, 'How long a retry waits for the first attempt; then 409.'),
  'requests.lease_ms': ms(15_000, 500, DAY_MS, 'A gateway silent for this long loses what it runs for nobody.'),
  'data.dir': text('./data', 'Folder for spooled uploads, files, batches and their database; made when missing.'),
  'spool.memory_bytes': bytes(
    262_144,
    0,
    64 * MIB,
    'Uploads up to this size stay in memory, larger ones go to data.dir.',
  ),
  'fetch.timeout_ms': ms(30_000, 1, DAY_MS, 'Limit for a worker to download a `file_url`, redirects included.'),
  'fetch.allow_hosts': text('', '`file_url` may also lead to these: host, host:port or network/prefix, with commas.'),
  ...QUEUE_SETTINGS,
  'batching.policy': choice(
    ['adaptive', 'window', 'none'],
    'adaptive',
    'adaptive: wait only while the device is idle (D-02); window: plain timer; none: send at once.',
  ),
  'batching.max_size': count(8, 1, 1024, 'Requests in one group at most; the engine may take fewer.'),
  'batching.window_ms': ms(50, 0, 60_000, 'Longest wait of the first request of a group.'),
  'batching.quiet_gap_ms': ms(5, 0, 60_000, 'adaptive: a group goes when no further request came for this long.'),
  'inference.timeout_min_ms': ms(30_000, 1, DAY_MS, 'Least time a worker gets for one request (D-07).'),
  'inference.timeout_factor': decimal(
    2,
    0,
    1000,
    'Time a worker gets, in multiples of the duration of the audio (D-07).',
  ),
  'inference.generation_timeout_ms': ms(
    600_000,
    1,
    DAY_MS,
    'Longest time a worker may have one chat or completion, streamed or not.',
  ),
  'inference.generation_idle_ms': ms(
    60_000,
    1,
    DAY_MS,
    'Longest silence between two chunks of a stream, while its reader keeps up.',
  ),
  'cancellation.rpc_timeout_ms': ms(100, 1, 60_000, 'Limit of the Cancel RPC to a worker.'),
  'cancellation.reset_after_ms': ms(
    30_000,
    10,
    DAY_MS,
    'How long a worker may take to end a cancelled call; then the call is broken off from the gateway.',
  ),
  'latency.ttl_ms': ms(60_000, 1, DAY_MS, 'How long the phases of a settled request stay readable (D-11).'),
  'latency.sweep_ms': ms(5000, 10, DAY_MS, 'How often expired latency entries are removed.'),
  'speech.max_buffered_bytes': bytes(16 * MIB, 65_536, GIB, 'Synthesised audio held for a client that reads slowly.'),
  'generation.max_buffered_bytes': bytes(
    MIB,
    1024,
    GIB,
    'Generated text held for a client that reads slowly; beyond, the engine is held back.',
  ),
  'realtime.transcription_model': text('whisper-1', 'Model of a live session that names none.'),
  'realtime.speech_model': text('tts-1', 'Model that speaks the responses of live sessions.'),
  'realtime.max_sessions': count(1000, 1, 100_000, 'Live sessions at the same time, waiting for a reconnect included.'),
  'realtime.max_session_ms': ms(3_600_000, 1000, DAY_MS, 'Longest life of a live session; told in `expires_at`.'),
  'realtime.idle_timeout_ms': ms(
    300_000,
    1000,
    DAY_MS,
    'A live session ends after this long without a client message.',
  ),
  'realtime.ping_interval_ms': ms(10_000, 100, DAY_MS, 'WebSocket pings; a peer that missed one is gone.'),
  'realtime.resume_window_ms': ms(30_000, 0, 600_000, 'How long a session whose connection dropped can be resumed.'),
  'realtime.shared_resume': flag(
    true,
    'With redis.url: keep sessions in Redis, so that another gateway can go on with those of one that died.',
  ),
  'realtime.recovery_ms': ms(
    30_000,
    0,
    600_000,
    'How long a session waits for its first worker, or for one that replaces a dead one.',
  ),
  'realtime.replay_ms': ms(60_000, 0, 600_000, 'Audio kept for a replacement worker, since the last segment.'),
  'realtime.max_ahead_ms': ms(
    30_000,
    1000,
    600_000,
    'Audio a client may be ahead of real time; then it is slowed, and closed in the end.',
  ),
  'realtime.max_message_bytes': bytes(
    4 * MIB,
    1024,
    64 * MIB,
    'Largest WebSocket message; a larger one closes with 1009.',
  ),
  'realtime.max_buffered_bytes': bytes(
    4 * MIB,
    65_536,
    256 * MIB,
    'Events held for a client that does not read, and for one that comes back.',
  ),
  ...WORKER_SETTINGS,
  'database.url': text(
    '',
    'Files and batches: postgres://…, or empty for SQLite in data.dir; DATABASE_URL names one, too.',
  ),
  'blobs.driver': choice(['fs', 's3'], 'fs', 'Where the bytes of files lie: data.dir, or a bucket that speaks S3.'),
  'blobs.s3_bucket': text(
    '',
    'Bucket; its keys come from AWS_ACCESS_KEY_ID and the like, as every AWS client finds them.',
  ),
  'blobs.s3_prefix': text('', 'Before every key of the bucket, such as switchyard/.'),
  'blobs.s3_region': text('us-east-1', 'Region of the bucket.'),
  'blobs.s3_endpoint': text('', 'URL of a server that is not Amazon’s.'),
  'blobs.s3_path_style': flag(false, 'host/bucket/key instead of bucket.host/key, as most self-hosted servers want.'),
  'files.max_bytes': bytes(
    512 * MIB,
    1,
    64 * GIB,
    'Largest file in one request; for the purpose batch batch.max_file_bytes counts.',
  ),
  'files.max_upload_bytes': bytes(8 * GIB, 1, 1024 * GIB, 'Largest file that comes in parts (/v1/uploads).'),
  'files.batch_expiry_ms': ms(
    30 * DAY_MS,
    0,
    3650 * DAY_MS,
    'How long files with the purpose batch and result files are kept when nobody names an expiry; 0 = unlimited.',
  ),
  'files.tenant_quota_bytes': bytes(
    0,
    0,
    1024 * 1024 * GIB,
    'Bytes that the files of one tenant may take; 0 = unlimited.',
  ),
  'files.gc_interval_ms': ms(
    60_000,
    10,
    DAY_MS,
    'How often expired files and uploads are removed, and bytes of nobody.',
  ),
  'files.orphan_age_ms': ms(
    DAY_MS,
    60_000,
    30 * DAY_MS,
    'Bytes that no file names are removed at this age. What takes half of it to arrive becomes no file.',
  ),
  'batch.embedded': flag(true, 'Start a batch processor with the gateway; false: node dist/main.batch.js runs apart.'),
  'batch.webhook_allow_hosts': text(
    '',
    'Webhooks may also lead to these: host, host:port or network/prefix, with commas.',
  ),
  'batch.jobs': count(4, 1, 1000, 'Batches that one processor works on at the same time.'),
  'batch.concurrency': count(100, 1, 10_000, 'Lines in flight in one processor, all batches together.'),
  'batch.concurrency_per_model': count(10, 1, 10_000, 'Lines in flight for one model; fewer while its target is busy.'),
  'batch.inflight_bytes': bytes(64 * MIB, 1, 16 * GIB, 'Lines in flight together; a larger one goes alone.'),
  'batch.max_file_bytes': bytes(200 * MIB, 1, 16 * GIB, 'Largest input file of a batch.'),
  'batch.max_lines': count(50_000, 1, 1_000_000, 'Most lines of an input file.'),
  'batch.max_line_bytes': bytes(8 * MIB, 64, GIB, 'Longest line of an input file.'),
  'batch.max_response_bytes': bytes(64 * MIB, 1, GIB, 'Largest answer to a line; a larger one is an error line.'),
  'batch.validation': choice(
    ['strict', 'lenient'],
    'strict',
    'strict: a bad line fails the batch; lenient: it goes to the error file. `metadata.validation` of a batch wins.',
  ),
  'batch.gateway_url': text(
    '',
    'Gateways that lines are sent to, comma-separated: those that are reachable share them; empty: server.host and server.port.',
  ),
  'batch.targets_file': text('', 'Other targets than the gateway: one for all models, or one per model (YAML).'),
  'batch.secrets_dir': text('/etc/.secrets', 'Folder of the keys that `api_key_name` in the targets file names.'),
  'batch.request_timeout_ms': ms(600_000, 1, DAY_MS, 'Limit of one attempt at a line, at the gateway as target.'),
  'batch.attempts': count(
    4,
    1,
    1000,
    'Attempts at a line that the gateway answered with a failure of the line; while it is busy or away, lines wait.',
  ),
  'batch.busy_attempts': count(
    0,
    0,
    1_000_000,
    'Attempts at a line that may meet a busy target (429, queue_timeout); 0 = unlimited, until the deadline.',
  ),
  'batch.backoff_min_ms': ms(1000, 1, DAY_MS, 'First pause before a line is tried again; doubles.'),
  'batch.backoff_max_ms': ms(
    60_000,
    1,
    DAY_MS,
    'Longest pause between two attempts, unless Retry-After asks for more.',
  ),
  'batch.finalize_timeout_ms': ms(
    DAY_MS,
    1000,
    30 * DAY_MS,
    'A batch whose result files cannot be stored for this long fails with what is stored.',
  ),
  'batch.max_models': count(256, 1, 10_000, 'Most models that the lines of one batch name.'),
  'batch.grace_ms': ms(
    10_000,
    0,
    DAY_MS,
    'How long lines in flight may finish after cancel, expiry or SIGTERM (D-15).',
  ),
  'batch.lease_ms': ms(
    15_000,
    500,
    DAY_MS,
    'A processor silent for this long loses its batches; it beats three times as often.',
  ),
  'batch.poll_ms': ms(1000, 10, DAY_MS, 'How often a processor looks for batches and webhooks.'),
  'batch.checkpoint_ms': ms(5000, 10, DAY_MS, 'How often results are copied to the blob store, when that is S3.'),
  'batch.webhook_secret_file': text(
    '',
    'Secret that signs webhooks, as whsec_… or plain; empty: batches may not have webhooks.',
  ),
  'batch.webhook_attempts': count(8, 1, 100, 'Attempts at a webhook, over about a day, until it is given up.'),
  'batch.metrics_port': count(0, 0, 65_535, 'Port for /metrics of a processor; 0: none.'),
  'batch.metrics_host': text('127.0.0.1', 'Address of that port; 0.0.0.0 where a Prometheus elsewhere asks.'),
  'hub.endpoint': text(
    'https://huggingface.co',
    'Hub that `switchyard models pull hf:…` asks; HF_ENDPOINT names one, too.',
  ),
  'hub.token_file': text('', 'File with the access token for gated and private repositories of the hub.'),
  'hub.models_dir': text('./data/models', 'Folder that pulled models are kept in, one folder each.'),
  ...REDIS_SETTINGS,
  ...PULL_SETTINGS,
  'compat.strict': flag(
    false,
    'Refuse fields that only advise and cannot be honoured, instead of ignoring and reporting them.',
  ),
  'logging.level': choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'Least severe log line that is written.',
  ),
  'logging.pretty': choice(['auto', 'true', 'false'], 'auto', 'Coloured text instead of JSON; auto: on a terminal.'),
} as const satisfies Record<string, SettingDefinition>;

type Table = typeof SETTINGS_TABLE;
export type SettingPath = keyof Table;

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type Section = SettingPath extends infer P ? (P extends `${infer S}.${string}` ? S : never) : never;

/** Effective settings: `settings.queue.maxRequests`. Validated once at start; nothing else reads files or environment. */
export type Settings = {
  readonly [S in Section]: {
    readonly [P in SettingPath as P extends `${S}.${infer Name}` ? Camel<Name> : never]: ValueOf<Table[P]>;
  };
};

/** Injection token of the effective `Settings`. */
export const SETTINGS = Symbol('SETTINGS');

export const SETTING_PATHS = Object.keys(SETTINGS_TABLE) as readonly SettingPath[];

export const settingDefinition = (path: SettingPath): SettingDefinition => SETTINGS_TABLE[path];

/** `queue.max_requests` → `SWITCHYARD_QUEUE_MAX_REQUESTS` */
export const environmentName = (path: string): string => `SWITCHYARD_${path.toUpperCase().replaceAll('.', '_')}`;

/** Nests flat values by path, filling in defaults. `settingsFrom({})` is what an empty file and environment give. */
export function settingsFrom(values: Partial<Record<SettingPath, SettingValue>>): Settings {
  const nested: Record<string, Record<string, SettingValue>> = {};
  for (const path of SETTING_PATHS) {
    const [section, name] = path.split('.') as [string, string];
    (nested[section] ??= {})[camelCase(name)] = values[path] ?? settingDefinition(path).default;
  }
  return nested as unknown as Settings;
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
