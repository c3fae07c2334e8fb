import { bytes, choice, count, DAY_MS, decimal, GIB, MIB, ms, text } from './setting-definition.js';

/** What may wait and in which order, how it is computed, live sessions, and the workers. */
export const DISPATCH_SETTINGS = {
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
    'Share of the four limits above that is reserved for REALTIME.',
  ),
  'queue.timeout_ms': ms(
    120_000,
    1,
    DAY_MS,
    'Maximum wait for a worker slot; then 503 with Retry-After (D-07).',
  ),
  'queue.target_wait_ms': ms(
    10_000,
    1,
    DAY_MS,
    'Wait of requests without a deadline that `switchyard_replicas_wanted` allows.',
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
  'scheduling.suspect_ms': ms(
    300_000,
    0,
    DAY_MS,
    'How long requests of a tenant whose input ended an engine run alone, after those of others, and on one ' +
      'replica unless workers pull (D-51); 0 = never.',
  ),
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
  'batching.window_ms': ms(50, 0, 60_000, 'Maximum wait of the first request of a group.'),
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
    'Minimum device time of one request; a group has the limits of all its requests together (D-07).',
  ),
  'inference.timeout_factor': decimal(
    2,
    0,
    1000,
    'Device time of one request, as a multiple of the duration of its audio (D-07).',
  ),
  'inference.generation_timeout_ms': ms(
    600_000,
    1,
    DAY_MS,
    'Maximum device time of one chat or completion; on a shared device, its part of the time.',
  ),
  'inference.generation_idle_ms': ms(
    60_000,
    1,
    DAY_MS,
    'Maximum pause between two chunks of a stream while the client reads.',
  ),
  'cancellation.rpc_timeout_ms': ms(100, 1, 60_000, 'Time limit of the Cancel RPC to a worker.'),
  'cancellation.reset_after_ms': ms(
    30_000,
    10,
    DAY_MS,
    'How long a worker may take to end a cancelled call; then the gateway resets it.',
  ),
  'realtime.transcription_model': text(
    'whisper-1',
    'Model of a live session that does not name one.',
  ),
  'realtime.speech_model': text('tts-1', 'Model that speaks the responses of live sessions.'),
  'realtime.max_sessions': count(
    1000,
    1,
    100_000,
    'Maximum concurrent live sessions, including those that wait for a reconnect, and of connections to ' +
      '/v1/responses. At the maximum a quiet one of the tenant with the most ends for another tenant.',
  ),
  'realtime.quiet_ms': ms(
    10_000,
    0,
    DAY_MS,
    'A session or connection without a client message for this long may end for another tenant at realtime.max_sessions.',
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
  'realtime.recovery_ms': ms(
    30_000,
    0,
    600_000,
    'How long a session waits for its first worker or for a replacement.',
  ),
  'realtime.interim_ms': ms(
    300,
    0,
    60_000,
    'For models without live streams: recognise an unfinished utterance again after this much more speech, while ' +
      'nothing else waits for the model. Each time is a request. Not for openai-http. 0: text comes at the end of an ' +
      'utterance.',
  ),
  'realtime.max_ahead_ms': ms(
    30_000,
    1000,
    600_000,
    'How far audio may be ahead of real time; then the client is slowed down, and finally closed.',
  ),
  'realtime.max_message_bytes': bytes(
    4 * MIB,
    1024,
    64 * MIB,
    'Maximum size of a WebSocket message; a larger one closes with 1009.',
  ),
  'workers.models_file': text('config/models.yaml', 'The models, their engines and their workers.'),
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
    'Requests in a row that a worker refuses or loses; then it is suspended (circuit breaker).',
  ),
  'workers.breaker_min_ms': ms(
    1000,
    1,
    DAY_MS,
    'First pause until a suspended worker gets one request as a trial; doubles each time, up to 30 times.',
  ),
  'workers.start_timeout_ms': ms(
    60_000,
    100,
    DAY_MS,
    'A local worker that starts and shows no progress for this long (no output, no answer to a probe) is restarted; ' +
      'the time doubles with each such start.',
  ),
  'workers.start_limit_ms': ms(
    1_800_000,
    100,
    DAY_MS,
    'Time in which a local worker that makes progress must load its engine.',
  ),
  'workers.restart_min_ms': ms(
    200,
    1,
    DAY_MS,
    'First delay until a crashed local worker is restarted; doubles each time.',
  ),
  'workers.restart_max_ms': ms(10_000, 1, DAY_MS, 'Maximum delay between two starts.'),
  'workers.dns_refresh_ms': ms(
    10_000,
    100,
    DAY_MS,
    'How often host names in `addresses` are resolved.',
  ),
  'workers.prep_parallel': count(4, 1, 256, 'Maximum uploads that a worker decodes concurrently.'),
};
