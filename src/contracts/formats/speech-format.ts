/** Encodings of synthesised audio and the Content-Type each one travels under. */
export const SPEECH_CONTENT_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const;

export type SpeechFormatName = keyof typeof SPEECH_CONTENT_TYPES;

export const SPEECH_FORMATS = Object.keys(SPEECH_CONTENT_TYPES) as readonly SpeechFormatName[];
