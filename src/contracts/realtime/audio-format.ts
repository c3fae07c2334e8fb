import { type FieldReader } from './field-reader.js';

/** How audio crosses the WebSocket, in both directions of base64 and in binary frames. */
export interface AudioFormat {
  readonly encoding: 'pcm16' | 'g711_ulaw' | 'g711_alaw';
  /** Hz; always 8000 with G.711. */
  readonly sampleRate: number;
}

/** OpenAI's own format is 24 kHz; microphones and telephones deliver the others. */
export const PCM_RATES = [8000, 16_000, 24_000, 48_000] as const;

export const PCM_24K: AudioFormat = { encoding: 'pcm16', sampleRate: 24_000 };

const ENCODINGS = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'g711_ulaw',
  'audio/pcma': 'g711_alaw',
} as const;
const GA_TYPES = Object.keys(ENCODINGS) as readonly (keyof typeof ENCODINGS)[];
const OLDER_NAMES = ['pcm16', 'g711_ulaw', 'g711_alaw'] as const;

/** `{type: "audio/pcm", rate: 24000}`. @throws DomainError */
export function readAudioFormat(fields: FieldReader): AudioFormat {
  const type = fields.oneOf('type', GA_TYPES) ?? 'audio/pcm';
  const encoding = ENCODINGS[type];
  const rate = fields.oneOf('rate', encoding === 'pcm16' ? PCM_RATES : [8000]);
  fields.done();
  return { encoding, sampleRate: rate ?? (encoding === 'pcm16' ? 24_000 : 8000) };
}

/** `"pcm16"`, which is 24 kHz, or G.711. @throws DomainError */
export function readOlderAudioFormat(
  fields: FieldReader,
  name: string,
): AudioFormat | undefined {
  const encoding = fields.oneOf(name, OLDER_NAMES);
  return encoding && { encoding, sampleRate: encoding === 'pcm16' ? 24_000 : 8000 };
}

/** The format as GA events show it. */
export function writtenFormat({ encoding, sampleRate }: AudioFormat): {
  type: string;
  rate?: number;
} {
  const type = GA_TYPES.find(name => ENCODINGS[name] === encoding) ?? 'audio/pcm';
  return encoding === 'pcm16' ? { type, rate: sampleRate } : { type };
}

/** Bytes of one second as sent by the client. */
export const bytesPerSecond = ({ encoding, sampleRate }: AudioFormat): number =>
  encoding === 'pcm16' ? 2 * sampleRate : sampleRate;
