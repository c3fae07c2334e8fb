import { bytes, choice, count, DAY_MS, decimal, GIB, ms, text } from './setting-definition.js';

/** Rows of the table of settings: what gateways and workers share. */
export const REDIS_SETTINGS = {
  'redis.url': text(
    '',
    'Redis that joins several gateways, and holds the queue if that is its driver; empty: one gateway.',
  ),
  'redis.prefix': text('switchyard', 'Before every key in Redis; equal for gateways and workers that belong together.'),
  'redis.result_ttl_ms': ms(
    600_000,
    1000,
    DAY_MS,
    'How long a result of the shared queue waits for its caller; once the caller has it, 10 s at most.',
  ),
  'redis.lock_ms': ms(30_000, 200, DAY_MS, 'A pull worker silent for this long loses its jobs to another one.'),
  'redis.max_stalled': count(1, 0, 100, 'Workers that may die with a job before it fails with worker_lost, less one.'),
} as const;

/** Rows of the table of settings: workers that pull (D-19). */
export const PULL_SETTINGS = {
  'pull.max_batch_size': count(
    6,
    1,
    1024,
    'Most jobs in one group and one engine call of a pull worker. Alias: MAX_BATCH_SIZE.',
  ),
  'pull.batch_timeout_ms': ms(
    500,
    0,
    600_000,
    'Longest wait of a group of BATCH jobs for more, from its first. batching.policy adaptive: only while the device is idle, and until batching.quiet_gap_ms after the last arrival; window: always; none: never. Alias: BATCH_TIMEOUT (seconds).',
  ),
  'pull.max_concurrency': count(
    1,
    1,
    64,
    'Most groups on the device of a pull worker at a time. Alias: MAX_CONCURRENCY.',
  ),
  'pull.block_ms': ms(
    5000,
    10,
    600_000,
    'Longest wait of an idle pull worker for a first job, then it waits again; a job ends the wait at once. Alias: QUEUE_BRPOP_TIMEOUT (seconds).',
  ),
  'pull.callback_allow_hosts': text(
    '',
    'Callbacks of jobs may also lead to these: host, host:port or network/prefix, with commas.',
  ),
  'pull.callback_secrets_dir': text(
    '/etc/.secrets',
    'Folder of the secrets that `callback.secretName` of a job names.',
  ),
  'pull.callback_attempts': count(12, 1, 100, 'Attempts at a callback, until it is given up.'),
  'pull.callback_backoff_ms': ms(5000, 1, DAY_MS, 'First pause between two attempts at a callback; doubles.'),
} as const;

/** What may wait, how long, and in which order. */
export const QUEUE_SETTINGS = {
  'queue.driver': choice(
    ['embedded', 'redis'],
    'embedded',
    'Where files, speech and embeddings wait: in this gateway, or in Redis, where workers pull (D-19); QUEUE_DRIVER means it, too.',
  ),
  'queue.max_requests': count(10_000, 1, 1_000_000, 'Waiting requests in all; one more answers 429.'),
  'queue.max_requests_per_model': count(2000, 1, 1_000_000, 'Waiting requests of one model; one more answers 429.'),
  'queue.max_bytes': bytes(2 * GIB, 1, 1024 * GIB, 'Uploads of all waiting requests together.'),
  'queue.max_bytes_per_model': bytes(GIB, 1, 1024 * GIB, 'Uploads of the waiting requests of one model.'),
  'queue.realtime_reserve': decimal(
    0.2,
    0,
    0.9,
    'Share of the four bounds above that only REALTIME may use: BATCH is refused first; 0 = none.',
  ),
  'queue.timeout_ms': ms(120_000, 1, DAY_MS, 'Longest wait for a worker slot; then 503 with Retry-After (D-07).'),
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
    'Share of the turns of a model that aged requests get while REALTIME waits too; 1: by age alone, without bound.',
  ),
} as const;

/** Rows of the workers, part of SETTINGS_TABLE. */
export const WORKER_SETTINGS = {
  'workers.models_file': text('config/models.yaml', 'The models, their engines and their workers.'),
  'workers.keepalive_time_ms': ms(10_000, 1000, DAY_MS, 'gRPC keepalive: ping after this much silence.'),
  'workers.keepalive_timeout_ms': ms(
    5000,
    100,
    DAY_MS,
    'gRPC keepalive: a ping unanswered for this long ends the connection.',
  ),
  'workers.health_interval_ms': ms(1000, 10, DAY_MS, 'How often each worker is probed, for life.'),
  'workers.health_timeout_ms': ms(2000, 10, DAY_MS, 'Limit of one probe.'),
  'workers.health_failures': count(3, 1, 1000, 'Failed probes in a row until a worker counts as lost.'),
  'workers.breaker_failures': count(
    5,
    1,
    1000,
    'Requests in a row that a worker refuses or loses until it gets no more (circuit breaker).',
  ),
  'workers.breaker_min_ms': ms(1000, 1, DAY_MS, 'Pause before such a worker is tried with one request; doubles.'),
  'workers.breaker_max_ms': ms(30_000, 1, DAY_MS, 'Longest pause between two such trials.'),
  'workers.start_timeout_ms': ms(
    60_000,
    100,
    DAY_MS,
    'Limit for a local worker to load its engine; then it is restarted.',
  ),
  'workers.restart_min_ms': ms(200, 1, DAY_MS, 'First pause before a crashed local worker is started again; doubles.'),
  'workers.restart_max_ms': ms(10_000, 1, DAY_MS, 'Longest pause between two starts.'),
  'workers.dns_refresh_ms': ms(10_000, 100, DAY_MS, 'How often host names in `addresses` are resolved anew.'),
  'workers.prep_parallel': count(4, 1, 256, 'Uploads a worker decodes at the same time.'),
} as const;
