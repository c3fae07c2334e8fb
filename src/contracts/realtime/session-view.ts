import { ENCODINGS } from './audio-format.js';
import { type SessionConfig } from './session-config.js';

/** GA's event names and shapes, or those of `OpenAI-Beta: realtime=v1`. */
export type Dialect = 'ga' | 'older';

/** A session as `session.created` and its relatives show it. */
export function sessionView(
  config: SessionConfig,
  facts: {
    readonly id: string;
    /** Unix seconds at which the session ends at the latest. */
    readonly expiresAt: number;
    /**
     * An extension: how to resume after a lost connection. Absent where a session
     * is only shown.
     */
    readonly resume?: { readonly secret: string; readonly window_seconds: number };
    /** An extension: seconds without a client message after which the session ends. */
    readonly idleTimeoutSeconds?: number;
  },
  dialect: Dialect,
): Record<string, unknown> {
  const { id, expiresAt, resume, idleTimeoutSeconds } = facts;
  return {
    id,
    object: `realtime.${config.type === 'transcription' ? 'transcription_session' : 'session'}`,
    ...(dialect === 'ga' ? currentShape(config) : olderShape(config)),
    expires_at: expiresAt,
    ...(resume && { resume }),
    ...(idleTimeoutSeconds !== undefined && {
      idle_timeout_seconds: idleTimeoutSeconds,
    }),
  };
}

function currentShape(config: SessionConfig) {
  const { type, voice, speed } = config;
  const input = {
    format: writtenFormat(config.format),
    noise_reduction: null,
    transcription: transcriptionOf(config),
    turn_detection: turnsOf(config),
  };
  const output = { format: { type: 'audio/pcm', rate: 24_000 }, voice, speed };
  return { type, audio: { input, output }, include: null };
}

/** The format as GA events show it. */
function writtenFormat({ encoding, sampleRate }: SessionConfig['format']) {
  const [type] = Object.entries(ENCODINGS).find(([, known]) => known === encoding)!;
  return encoding === 'pcm16' ? { type, rate: sampleRate } : { type };
}

const olderShape = (config: SessionConfig) => ({
  modalities: ['text', 'audio'],
  input_audio_format: config.format.encoding,
  input_audio_noise_reduction: null,
  input_audio_transcription: transcriptionOf(config),
  turn_detection: turnsOf(config),
  include: null,
});

const transcriptionOf = ({ model, language, prompt }: SessionConfig) => ({
  model,
  language: language || null,
  prompt,
});

const turnsOf = ({ turnDetection }: SessionConfig) =>
  turnDetection && {
    type: 'server_vad',
    threshold: turnDetection.threshold,
    prefix_padding_ms: turnDetection.prefixPaddingMs,
    silence_duration_ms: turnDetection.silenceDurationMs,
    create_response: false,
    interrupt_response: turnDetection.interruptResponse,
  };
