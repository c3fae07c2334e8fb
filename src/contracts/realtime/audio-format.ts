import { DomainError } from '../../core/errors/domain-error.js';

/** How audio crosses the WebSocket, in both directions of base64 and in binary frames. */
export interface AudioFormat {
  readonly encoding: (typeof ENCODINGS)[keyof typeof ENCODINGS];
  /** Hz; always 8000 with G.711. */
  readonly sampleRate: number;
}

/** Encodings by the names of the generally available API. */
export const ENCODINGS = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'g711_ulaw',
  'audio/pcma': 'g711_alaw',
} as const;

/** Speech leaves as the synthesisers make it. @throws DomainError for any other format */
export function requirePcm24(format: AudioFormat | undefined, param: string): void {
  if (!format || (format.encoding === 'pcm16' && format.sampleRate === 24_000)) return;
  throw new DomainError('unsupported_parameter', 'Speech is sent as audio/pcm at 24000 Hz only.', {
    param,
  });
}
