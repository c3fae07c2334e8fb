import {
  bytes,
  choice,
  count,
  DAY_MS,
  decimal,
  GIB,
  ms,
  text,
} from './setting-definition.js';

/** Rows of the table of settings: what gateways and workers share. */
export const SHARED_QUEUE_SETTINGS = {
  'redis.url': text(
    '',
    'Redis shared by several gateways; it holds the queue when queue.driver is redis. Empty: a single gateway. ' +
      'Alias: REDIS_URL.',
  ),
  'redis.prefix': text(
    'switchyard',
    'Prefix of every Redis key; the same for gateways and workers that belong together.',
  ),
  'redis.result_ttl_ms': ms(
    600_000,
    1000,
    DAY_MS,
    'How long an unread result of the shared queue is stored; after it was read, 10 s at most.',
  ),
  'redis.lock_ms': ms(
    5000,
    200,
    DAY_MS,
    'A pull worker silent for this long loses its jobs to another worker; below inference.timeout_min_ms.',
  ),
  'redis.max_stalled': count(
    1,
    0,
    100,
    'Worker deaths tolerated while a job runs alone, before it fails with worker_crashed.',
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
    'Time limit of one blocking wait of an idle pull worker; a job ends it immediately. Alias: ' +
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
  'pull.callback_attempts': count(12, 1, 100, 'Maximum attempts to deliver a callback.'),
  'pull.callback_backoff_ms': ms(
    5000,
    1,
    DAY_MS,
    'First delay between two attempts at a callback; doubles each time.',
  ),
} as const;

/** What may wait, how long, and in which order. */
export const QUEUE_SETTINGS = {
  'queue.driver': choice(
    ['embedded', 'redis'],
    'embedded',
    'Where transcription, speech and embedding requests queue: in this gateway, or in Redis, from ' +
      'which workers pull (D-19). Alias: QUEUE_DRIVER.',
  ),
  'queue.max_requests': count(
    10_000,
    1,
    1_000_000,
    'Maximum queued requests of all models; further ones get 429.',
  ),
  'queue.max_requests_per_model': count(
    2000,
    1,
    1_000_000,
    'Maximum queued requests of one model; further ones get 429.',
  ),
  'queue.max_bytes': bytes(
    2 * GIB,
    1,
    1024 * GIB,
    'Maximum total upload size of all queued requests.',
  ),
  'queue.max_bytes_per_model': bytes(
    GIB,
    1,
    1024 * GIB,
    'Maximum total upload size of the queued requests of one model.',
  ),
  'queue.realtime_reserve': decimal(
    0.2,
    0,
    0.9,
    'Share of the four limits above reserved for REALTIME, so that BATCH is refused first; 0 = none.',
  ),
  'queue.timeout_ms': ms(
    120_000,
    1,
    DAY_MS,
    'Maximum wait for a worker slot; then 503 with Retry-After (D-07).',
  ),
  'queue.aging_ms': ms(
    30_000,
    1,
    DAY_MS,
    'A BATCH request that waited longer is aged: it competes with REALTIME (D-03).',
  ),
  'queue.aging_share': decimal(
    0.25,
    0.01,
    1,
    'Share of the turns of a model that aged requests get while REALTIME waits too; 1 = by age alone, without limit.',
  ),
} as const;

/** Rows of the workers, part of SETTINGS_TABLE. */
export const WORKER_SETTINGS = {
  'workers.models_file': text(
    'config/models.yaml',
    'The models, their engines and their workers.',
  ),
  'workers.keepalive_time_ms': ms(
    10_000,
    1000,
    DAY_MS,
    'gRPC keepalive: ping after this long without traffic.',
  ),
  'workers.keepalive_timeout_ms': ms(
    20_000,
    100,
    DAY_MS,
    'gRPC keepalive: a ping unanswered for this long ends the connection.',
  ),
  'workers.health_interval_ms': ms(
    1000,
    10,
    DAY_MS,
    'Interval of the liveness probe of each worker.',
  ),
  'workers.health_timeout_ms': ms(2000, 10, DAY_MS, 'Time limit of one probe.'),
  'workers.health_failures': count(
    3,
    1,
    1000,
    'Consecutive failed probes after which a worker counts as lost.',
  ),
  'workers.breaker_failures': count(
    5,
    1,
    1000,
    'Consecutive requests that a worker refuses or loses before it is suspended (circuit breaker).',
  ),
  'workers.breaker_min_ms': ms(
    1000,
    1,
    DAY_MS,
    'First pause before a suspended worker is tried with one request; doubles each time.',
  ),
  'workers.breaker_max_ms': ms(
    30_000,
    1,
    DAY_MS,
    'Maximum pause between two such trials.',
  ),
  'workers.start_timeout_ms': ms(
    60_000,
    100,
    DAY_MS,
    'Time limit for a local worker to load its engine before it is restarted.',
  ),
  'workers.restart_min_ms': ms(
    200,
    1,
    DAY_MS,
    'First delay before a crashed local worker is restarted; doubles each time.',
  ),
  'workers.restart_max_ms': ms(10_000, 1, DAY_MS, 'Maximum delay between two starts.'),
  'workers.dns_refresh_ms': ms(
    10_000,
    100,
    DAY_MS,
    'How often host names in `addresses` are resolved again.',
  ),
  'workers.prep_parallel': count(
    4,
    1,
    256,
    'Maximum uploads that a worker decodes concurrently.',
  ),
} as const;
