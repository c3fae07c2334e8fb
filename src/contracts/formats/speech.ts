import { sseData } from './server-sent-event.js';

const PCM = 1;

const UNKNOWN_LENGTH = 0xffffffff;

const HEADER_BYTES = 44;

/**
 * Header of a WAV stream whose length is not known when it begins: both length fields
 * hold the largest value.
 */
export const streamedWavHeader = (sampleRate: number): Buffer =>
  header(sampleRate, UNKNOWN_LENGTH, UNKNOWN_LENGTH);

/** Header of a WAV file of so many bytes of s16 samples. */
export const wavHeader = (sampleRate: number, dataBytes: number, channels = 1): Buffer =>
  header(sampleRate, HEADER_BYTES - 8 + dataBytes, dataBytes, channels);

function header(sampleRate: number, riffBytes: number, dataBytes: number, channels = 1): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(riffBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

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

export const SPEECH_FORMATS = Object.keys(SPEECH_CONTENT_TYPES) as readonly SpeechFormat[];

/** What a synthesis asks for, from the HTTP body to the engine. */
export interface SpeechParams {
  readonly text: string;
  /** Engine voice id, resolved from the client's name. */
  readonly voice: string;
  /** 0.25..4 */
  readonly speed: number;
  readonly format: SpeechFormat;
}
