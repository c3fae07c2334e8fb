import { DomainError } from '../../core/errors/domain-error.js';
import { ANYTHING, defaulted, objectOf, oneOf, optional } from '../schema/rules.js';

/** How audio crosses the WebSocket, in both directions of base64 and in binary frames. */
export interface AudioFormat {
  readonly encoding: 'pcm16' | 'g711_ulaw' | 'g711_alaw';
  /** Hz; always 8000 with G.711. */
  readonly sampleRate: number;
}

/** OpenAI's own format is 24 kHz; microphones and telephones deliver the others. */
const PCM_RATES = [8000, 16_000, 24_000, 48_000] as const;

const ENCODINGS = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'g711_ulaw',
  'audio/pcma': 'g711_alaw',
} as const;
const GA_TYPES = Object.keys(ENCODINGS) as readonly (keyof typeof ENCODINGS)[];
const OLDER_NAMES = ['pcm16', 'g711_ulaw', 'g711_alaw'] as const;

/** `{type: "audio/pcm", rate: 24000}`. */
export const AUDIO_FORMAT = objectOf({
  type: defaulted(oneOf(GA_TYPES), 'audio/pcm'),
  rate: optional(ANYTHING),
}).transform(({ type, rate }, context): AudioFormat => {
  const encoding = ENCODINGS[type];
  const rates: readonly number[] = encoding === 'pcm16' ? PCM_RATES : [8000];
  const sampleRate = rate ?? (encoding === 'pcm16' ? 24_000 : 8000);
  if (!rates.some(known => known === sampleRate))
    context.addIssue({
      code: 'custom',
      path: ['rate'],
      message: `must be one of ${rates.join(', ')}`,
    });
  return { encoding, sampleRate: Number(sampleRate) };
});

/** `"pcm16"`, which is 24 kHz, or G.711. */
export const OLDER_AUDIO_FORMAT = oneOf(OLDER_NAMES).transform(
  (encoding): AudioFormat => ({
    encoding,
    sampleRate: encoding === 'pcm16' ? 24_000 : 8000,
  }),
);

/** Speech leaves as the synthesisers make it. @throws DomainError for any other format */
export function requirePcm24(format: AudioFormat | undefined, param: string): void {
  if (!format || (format.encoding === 'pcm16' && format.sampleRate === 24_000)) return;
  throw new DomainError(
    'unsupported_parameter',
    'Speech is sent as audio/pcm at 24000 Hz only.',
    { param },
  );
}

/** The format as GA events show it. */
export function writtenFormat({ encoding, sampleRate }: AudioFormat): {
  type: string;
  rate?: number;
} {
  const type = GA_TYPES.find(name => ENCODINGS[name] === encoding) ?? 'audio/pcm';
  return encoding === 'pcm16' ? { type, rate: sampleRate } : { type };
}
