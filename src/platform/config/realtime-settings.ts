import {
  bytes,
  count,
  DAY_MS,
  flag,
  MIB,
  ms,
  text,
  type SettingDefinition,
} from './setting-definition.js';

/** Live sessions. */
export const REALTIME_SETTINGS = {
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
