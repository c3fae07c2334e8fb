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
