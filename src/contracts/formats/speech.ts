import { sseData } from './server-sent-event.js';

/** One piece of encoded audio as a server-sent event. */
export function speechDelta(audio: Buffer): string {
  return sseData({ type: 'speech.audio.delta', audio: audio.toString('base64') });
}

/**
 * The last event. Speech has no tokens here, so the counts that OpenAI's clients require
 * are 0; `seconds` is what was made. @param durationS of all audio, seconds
 */
export function speechDone(durationS: number): string {
  const usage = {
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    seconds: durationS,
  };
  return sseData({ type: 'speech.audio.done', usage });
}

/** Encodings of synthesised audio and the Content-Type each one travels under. */
export const SPEECH_CONTENT_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const;

export type SpeechFormat = keyof typeof SPEECH_CONTENT_TYPES;

export const SPEECH_FORMATS = Object.keys(
  SPEECH_CONTENT_TYPES,
) as readonly SpeechFormat[];

/** What a synthesis asks for, from the HTTP body to the engine. */
export interface SpeechParams {
  readonly text: string;
  /** Engine voice id, resolved from the client's name. */
  readonly voice: string;
  /** 0.25..4 */
  readonly speed: number;
  readonly format: SpeechFormat;
}
