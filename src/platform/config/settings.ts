import { BATCH_SETTINGS, RESPONSE_SETTINGS } from './batch-settings.js';
import { camelCase } from './model-spec.js';
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
  text,
  type SettingDefinition,
  type SettingValue,
  type ValueOf,
} from './setting-definition.js';
import {
  QUEUE_SETTINGS,
  SHARED_QUEUE_SETTINGS,
  WORKER_SETTINGS,
} from './worker-settings.js';

/** Live sessions. */
const REALTIME_SETTINGS = {
  'realtime.transcription_model': text(
    'whisper-1',
    'Model of a live session that does not name one.',
  ),
  'realtime.speech_model': text(
    'tts-1',
    'Model that speaks the responses of live sessions.',
  ),
  'realtime.max_sessions': count(
    1000,
    1,
    100_000,
    'Maximum concurrent live sessions, including those that wait for a reconnect.',
  ),
  'realtime.max_session_ms': ms(
    3_600_000,
    1000,
    DAY_MS,
    'Maximum duration of a live session; reported in `expires_at`.',
  ),
  'realtime.idle_timeout_ms': ms(
    300_000,
    1000,
    DAY_MS,
    'A live session ends after this long without a client message.',
  ),
  'realtime.ping_interval_ms': ms(
    10_000,
    100,
    DAY_MS,
    'Interval of WebSocket pings; a peer that misses one is disconnected.',
  ),
  'realtime.resume_window_ms': ms(
    30_000,
    0,
    600_000,
    'How long a session whose connection dropped can be resumed.',
  ),
  'realtime.shared_resume': flag(
    true,
    'With redis.url: store sessions in Redis, so that another gateway can resume them.',
  ),
  'realtime.recovery_ms': ms(
    30_000,
    0,
    600_000,
    'How long a session waits for its first worker or for a replacement.',
  ),
  'realtime.interim_ms': ms(
    0,
    0,
    60_000,
    'For models without live streams: recognise an unfinished utterance again after this much more speech, while the ' +
      'model has nothing else to do. Each time is a request. 0: text comes at the end of an utterance.',
  ),
  'realtime.replay_ms': ms(
    60_000,
    0,
    600_000,
    'Audio since the last segment that is buffered for a replacement worker.',
  ),
  'realtime.max_ahead_ms': ms(
    30_000,
    1000,
    600_000,
    'How far audio may be ahead of real time before the client is slowed down, and finally closed.',
  ),
  'realtime.max_message_bytes': bytes(
    4 * MIB,
    1024,
    64 * MIB,
    'Maximum size of a WebSocket message; a larger one closes the connection with 1009.',
  ),
  'realtime.max_buffered_bytes': bytes(
    4 * MIB,
    65_536,
    256 * MIB,
    'Events buffered for a client that does not read or that reconnects.',
  ),
} as const satisfies Record<string, SettingDefinition>;

/**
 * The one table of settings. `config/switchyard.yaml`, the `SWITCHYARD_…`
 * variables, `config:print`, the manual and the type `Settings` all come from it;
 * specs prove them equal.
 */
export const SETTINGS_TABLE = {
  ...SERVER_SETTINGS,
  'limits.requests_per_minute': count(
    0,
    0,
    1e9,
    'Requests of one tenant per minute; 0 = unlimited.',
  ),
  'limits.tokens_per_minute': count(
    0,
    0,
    1e9,
    'Tokens of one tenant per minute, prompts and answers; 0 = unlimited.',
  ),
  'limits.audio_seconds_per_minute': count(
    0,
    0,
    1e9,
    'Seconds of audio of one tenant per minute, input and output; 0 = unlimited.',
  ),
  'limits.concurrent_requests': count(
    0,
    0,
    1e9,
    'Concurrent requests and live sessions of one tenant; 0 = unlimited.',
  ),
  'limits.requests_per_day': count(
    0,
    0,
    1e9,
    'Requests of one tenant per UTC day; 0 = unlimited.',
  ),
  'requests.idempotency': choice(
    ['auto', 'key', 'request_id', 'off'],
    'auto',
    'key: a retry with the same Idempotency-Key gets the stored answer; request_id: also by ' +
      'X-Request-Id; auto: request_id with a database.url, else key.',
  ),
  'requests.keep_ms': ms(
    DAY_MS,
    1000,
    30 * DAY_MS,
    'How long answers are stored for retries and for respond-async.',
  ),
  'requests.join_ms': ms(
    60_000,
    0,
    DAY_MS,
    'How long a retry waits for the first attempt before it gets 409.',
  ),
  'requests.lease_ms': ms(
    15_000,
    500,
    DAY_MS,
    'When a gateway is silent for this long, its async requests move to another gateway.',
  ),
  ...RESPONSE_SETTINGS,
  'data.dir': text(
    './data',
    'Folder for spooled uploads, files, batches and their database; created if missing.',
  ),
  'spool.memory_bytes': bytes(
    262_144,
    0,
    64 * MIB,
    'Uploads up to this size stay in memory; larger ones are written to data.dir.',
  ),
  'fetch.timeout_ms': ms(
    30_000,
    1,
    DAY_MS,
    'Time limit for a worker to download a `file_url`, redirects included.',
  ),
  'fetch.allow_hosts': text(
    '',
    'Private addresses that `file_url` may name: comma-separated host, host:port or network/prefix.',
  ),
  ...QUEUE_SETTINGS,
  'batching.policy': choice(
    ['adaptive', 'window', 'none'],
    'adaptive',
    'adaptive: wait only while the device is idle (D-02); window: fixed timer; none: send immediately.',
  ),
  'batching.max_size': count(
    8,
    1,
    1024,
    'Maximum requests in one group; an engine may accept fewer.',
  ),
  'batching.window_ms': ms(
    50,
    0,
    60_000,
    'Maximum wait of the first request of a group.',
  ),
  'batching.quiet_gap_ms': ms(
    5,
    0,
    60_000,
    'adaptive: a group is sent when no further request has arrived for this long.',
  ),
  'inference.timeout_min_ms': ms(
    30_000,
    1,
    DAY_MS,
    'Minimum time a worker has for one request (D-07).',
  ),
  'inference.timeout_factor': decimal(
    2,
    0,
    1000,
    'Time a worker has for one request, as a multiple of the duration of the audio (D-07).',
  ),
  'inference.generation_timeout_ms': ms(
    600_000,
    1,
    DAY_MS,
    'Maximum time a worker has for one chat or completion, streamed or not.',
  ),
  'inference.generation_idle_ms': ms(
    60_000,
    1,
    DAY_MS,
    'Maximum pause between two chunks of a stream while the client reads.',
  ),
  'cancellation.rpc_timeout_ms': ms(
    100,
    1,
    60_000,
    'Time limit of the Cancel RPC to a worker.',
  ),
  'cancellation.reset_after_ms': ms(
    30_000,
    10,
    DAY_MS,
    'How long a worker may take to end a cancelled call before the gateway resets it.',
  ),
  'latency.ttl_ms': ms(
    60_000,
    1,
    DAY_MS,
    'How long the phases of a finished request can be read (D-11).',
  ),
  'latency.sweep_ms': ms(
    5000,
    10,
    DAY_MS,
    'How often expired latency entries are removed.',
  ),
  'speech.max_buffered_bytes': bytes(
    16 * MIB,
    65_536,
    GIB,
    'Synthesised audio buffered for a client that reads slowly.',
  ),
  'generation.max_buffered_bytes': bytes(
    MIB,
    1024,
    GIB,
    'Generated text buffered for a client that reads slowly; above it the engine is paused.',
  ),
  ...REALTIME_SETTINGS,
  ...WORKER_SETTINGS,
  ...BATCH_SETTINGS,
  'hub.endpoint': text(
    'https://huggingface.co',
    'Hub used by `switchyard models pull hf:…`. Alias: HF_ENDPOINT.',
  ),
  'hub.token_file': text(
    '',
    'File with the access token for gated and private repositories of the hub.',
  ),
  'hub.catalogue_file': text(
    '',
    'More models for `switchyard models add`: a file of the form of config/catalogue.yaml. Its entries win.',
  ),
  'hub.models_dir': text(
    './data/models',
    'Folder for pulled models, one subfolder each.',
  ),
  ...SHARED_QUEUE_SETTINGS,
  'compat.strict': flag(
    false,
    'Refuse fields that only advise and cannot be honoured, instead of ignoring and reporting them.',
  ),
  'compat.asr_model': text(
    'whisper-1',
    'Model of /asr and /detect-language, whose clients name none.',
  ),
  'logging.level': choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'Minimum level of log lines.',
  ),
  'logging.pretty': choice(
    ['auto', 'true', 'false'],
    'auto',
    'Coloured text instead of JSON; auto: only on a terminal.',
  ),
} as const satisfies Record<string, SettingDefinition>;

export type SettingPath = keyof typeof SETTINGS_TABLE;

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;

type Section = SettingPath extends infer P
  ? P extends `${infer S}.${string}`
    ? S
    : never
  : never;

type SettingValues = {
  readonly [S in Section]: {
    readonly [
      P in SettingPath as P extends `${S}.${infer Name}` ? Camel<Name> : never
    ]: ValueOf<(typeof SETTINGS_TABLE)[P]>;
  };
};

/**
 * Effective settings: `settings.queue.maxRequests`. Validated once at start; nothing else
 * reads files or environment. Nest injects them by this type.
 */
export abstract class Settings extends (Object as unknown as abstract new () => SettingValues) {}

/** False: no API keys are required, and every client may do everything. */
export const requiresKeys = ({ auth }: Settings): boolean =>
  auth.keysFile !== '' || auth.key !== '' || auth.oidcIssuer !== '' || auth.required;

export const SETTING_PATHS = Object.keys(SETTINGS_TABLE) as readonly SettingPath[];

export const settingDefinition = (path: SettingPath): SettingDefinition =>
  SETTINGS_TABLE[path];

/** `queue.max_requests` → `SWITCHYARD_QUEUE_MAX_REQUESTS` */
export const environmentName = (path: string): string =>
  `SWITCHYARD_${path.toUpperCase().replaceAll('.', '_')}`;

/**
 * Nests flat values by path, filling in defaults. `settingsFrom({})` is what an empty
 * file and environment give.
 */
export function settingsFrom(
  values: Partial<Record<SettingPath, SettingValue>>,
): Settings {
  const nested: Record<string, Record<string, SettingValue>> = {};
  for (const path of SETTING_PATHS) {
    const [section, name] = path.split('.') as [string, string];
    (nested[section] ??= {})[camelCase(name)] =
      values[path] ?? settingDefinition(path).default;
  }
  return nested as unknown as Settings;
}
