import { bytes, choice, count, DAY_MS, GIB, ms } from './setting-rows.js';

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
  'queue.realtime_reserve': {
    type: 'number',
    default: 0.2,
    min: 0,
    max: 0.9,
    help: 'Share of the four bounds above that only REALTIME may use: BATCH is refused first; 0 = none.',
  },
  'queue.timeout_ms': ms(120_000, 1, DAY_MS, 'Longest wait for a worker slot; then 503 with Retry-After (D-07).'),
  'queue.aging_ms': ms(
    30_000,
    1,
    DAY_MS,
    'A BATCH request that waited longer is aged: it competes with REALTIME (D-03).',
  ),
  'queue.aging_share': {
    type: 'number',
    default: 0.25,
    min: 0.01,
    max: 1,
    help: 'Share of the turns of a model that aged requests get while REALTIME waits too; 1: by age alone, without bound.',
  },
} as const;
