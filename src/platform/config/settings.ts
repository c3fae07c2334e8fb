import { BATCH_SETTINGS } from './batch-settings.js';
import { DISPATCH_SETTINGS } from './dispatch-settings.js';
import { camelCase } from './model-spec.js';
import { SERVER_SETTINGS } from './server-settings.js';
import {
  choice,
  count,
  DAY_MS,
  flag,
  ms,
  text,
  type SettingDefinition,
  type SettingValue,
} from './setting-definition.js';

/**
 * The one table of settings. `config/switchyard.yaml`, the `SWITCHYARD_…`
 * variables, `config:print`, the manual and the type `Settings` all come from it;
 * specs prove them equal.
 */
export const SETTINGS_TABLE = {
  ...SERVER_SETTINGS,
  ...DISPATCH_SETTINGS,
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
  'hub.models_dir': text('./data/models', 'Folder for pulled models, one subfolder each.'),
  'redis.url': text(
    '',
    'Redis shared by several gateways; it holds the queue when queue.driver is redis. Empty: a single gateway. ' +
      'Alias: REDIS_URL.',
  ),
  'redis.sentinels': text(
    '',
    'Sentinels of that Redis, in place of redis.url, such as redis://s1:26379,s2:26379,s3:26379. With ' +
      '`rediss://user:password@` TLS, user and password are those of Redis; the Sentinels get the password, too.',
  ),
  'redis.master_name': text('', 'What the Sentinels call it; needs redis.sentinels.'),
  'redis.prefix': text(
    'switchyard',
    'Prefix of every Redis key; the same for gateways and workers that belong together.',
  ),
  'redis.result_ttl_ms': ms(
    600_000,
    1000,
    DAY_MS,
    'How long an unread result of the shared queue is stored; a read one three `requests.lease_ms` at most.',
  ),
  'redis.lock_ms': ms(
    5000,
    200,
    DAY_MS,
    'A pull worker silent for this long loses its jobs to another worker.',
  ),
  'pull.max_batch_size': count(
    6,
    1,
    1024,
    'Maximum jobs in one group, and so in one engine call, of a pull worker. Alias: MAX_BATCH_SIZE.',
  ),
  'pull.batch_timeout_ms': ms(
    500,
    0,
    600_000,
    'Maximum wait of a group of BATCH jobs, from its first job. With batching.policy adaptive it waits ' +
      'only while the device is idle, and at most batching.quiet_gap_ms after the last arrival; window: ' +
      'always; none: never. Alias: BATCH_TIMEOUT (seconds).',
  ),
  'pull.max_concurrency': count(
    1,
    1,
    64,
    'Maximum concurrent groups on the device of a pull worker. Alias: MAX_CONCURRENCY.',
  ),
  'pull.block_ms': ms(
    5000,
    10,
    600_000,
    'Time limit of one blocking wait of an idle pull worker; a job ends it. Alias: ' +
      'QUEUE_BRPOP_TIMEOUT (seconds).',
  ),
  'pull.callback_allow_hosts': text(
    '',
    'Private addresses that callbacks may name: comma-separated host, host:port or network/prefix.',
  ),
  'pull.callback_secrets_dir': text(
    '/etc/.secrets',
    'Folder of the secrets named by `callback.secretName` of a job.',
  ),
  'pull.callback_backoff_ms': ms(
    5000,
    1,
    DAY_MS,
    'First delay between two attempts at a callback; doubles each time.',
  ),
  'compat.strict': flag(false, 'Refuse fields that only advise and cannot be honoured.'),
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
} satisfies Record<string, SettingDefinition>;

export type SettingPath = keyof typeof SETTINGS_TABLE;

/** What people need first; `config/switchyard.yaml` holds these alone, all others are advanced. */
export const BASIC_SETTINGS: readonly SettingPath[] = [
  'server.host',
  'server.port',
  'server.upload_limit_bytes',
  'server.cors_origins',
  'server.trusted_proxies',
  'auth.keys_file',
  'auth.key',
  'auth.oidc_issuer',
  'auth.oidc_audience',
  'limits.requests_per_minute',
  'limits.concurrent_requests',
  'responses.store',
  'data.dir',
  'queue.driver',
  'queue.max_requests',
  'queue.timeout_ms',
  'queue.aging_ms',
  'batching.max_size',
  'batching.window_ms',
  'workers.models_file',
  'database.url',
  'blobs.driver',
  'hub.models_dir',
  'redis.url',
  'logging.level',
];

/**
 * Settings of former versions, and what holds in their place. A file or variable that names
 * one is read with a warning.
 */
export const FORMER_SETTINGS: Readonly<Record<string, string>> = {
  'latency.ttl_ms':
    'the phases of a request are kept until it ends, however long that takes (D-11)',
  'latency.sweep_ms': 'nothing expires by time (D-11)',
  'realtime.replay_ms':
    '60 s of audio are buffered for a replacement worker; less would lose speech, more is never replayed in time',
  'auth.oidc_clock_tolerance_s':
    'clocks may differ by 30 s, and a larger difference is a fault to repair',
  'responses.flush_ms':
    'events are collected for 50 ms, which no reader notices and the database needs',
  'responses.flush_bytes':
    '64 KiB of events are written at once, however few milliseconds they took',
  'workers.breaker_max_ms': 'pauses grow to 30 times workers.breaker_min_ms',
  'batch.backoff_max_ms': 'delays grow to 60 times batch.backoff_min_ms',
  'batch.max_models': 'a batch may name 256 models, more than any gateway serves',
  'server.body_min_rate': 'a request body that brings less than 512 bytes per second has stalled',
  'speech.max_buffered_bytes': '16 MiB of audio are buffered for a slow client, which is minutes',
  'generation.max_buffered_bytes':
    '1 MiB of text is buffered for a slow client, which is longer than an answer',
  'realtime.shared_resume': 'with redis.url any gateway can resume a session',
  'realtime.max_buffered_bytes':
    '4 MiB of events are stored for a client that does not read or reconnects',
  'responses.keep_events_ms':
    'the events of a background response are stored for a day after its end',
  'workers.keepalive_time_ms':
    'connections are pinged after 10 s without traffic; a worker that forbids that gets fewer pings',
  'files.orphan_age_ms': 'data that nothing refers to is removed when it is a day old',
  'batch.inflight_bytes': 'lines in flight have 64 MiB together; a larger line is sent alone',
  'batch.max_response_bytes': 'an answer to a line may have 64 MiB, more than any endpoint sends',
  'batch.busy_attempts': 'lines wait for a busy target until their deadline',
  'batch.webhook_attempts': 'a webhook is attempted 8 times, over about a day',
  'redis.max_stalled': 'a job that two workers died with, alone, fails with worker_crashed',
  'pull.callback_attempts': 'a callback is attempted 12 times, over about three hours',
};

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;

type Section = SettingPath extends infer P ? (P extends `${infer S}.${string}` ? S : never) : never;

type SettingValues = {
  readonly [S in Section]: {
    readonly [
      P in SettingPath as P extends `${S}.${infer Name}` ? Camel<Name> : never
    ]: (typeof SETTINGS_TABLE)[P]['default'];
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

export const settingDefinition = (path: SettingPath): SettingDefinition => SETTINGS_TABLE[path];

/** `queue.max_requests` → `SWITCHYARD_QUEUE_MAX_REQUESTS` */
export const environmentName = (path: string): string =>
  `SWITCHYARD_${path.toUpperCase().replaceAll('.', '_')}`;

/**
 * Nests flat values by path, filling in defaults. `settingsFrom({})` is what an empty
 * file and environment give.
 */
export function settingsFrom(values: Partial<Record<SettingPath, SettingValue>>): Settings {
  const nested: Record<string, Record<string, SettingValue>> = {};
  for (const path of SETTING_PATHS) {
    const [section, name] = path.split('.') as [string, string];
    (nested[section] ??= {})[camelCase(name)] = values[path] ?? settingDefinition(path).default;
  }
  return nested as unknown as Settings;
}
