import { count, DAY_MS, ms, text } from './setting-rows.js';

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

/** Rows of the table of settings: workers that pull (D-19), with the names and defaults of seeds/micro-batching. */
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
