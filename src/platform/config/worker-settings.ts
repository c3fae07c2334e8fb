import { count, DAY_MS, ms, text } from './setting-rows.js';

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
