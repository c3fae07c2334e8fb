import { deflateRawSync } from 'node:zlib';
import { type TranscriptSegment } from '../../contracts/formats/transcript.js';
import { type Transcript, type TranscriptSegment as EngineSegment } from '../engines/engine.js';

/** Segments as verbose_json has them: numbered, with Whisper's compression ratio. */
export const segmentsOf = (transcript: Transcript, temperature: number): TranscriptSegment[] =>
  transcript.segments.map((segment, id) => answeredSegment(segment, id, temperature));

/** @param temperature of a segment that tells none of its own */
export const answeredSegment = (segment: EngineSegment, id: number, temperature: number): TranscriptSegment => ({
  id,
  start: segment.start,
  end: segment.end,
  text: segment.text,
  tokens: segment.tokens ?? [],
  temperature: segment.temperature ?? temperature,
  avgLogprob: segment.avgLogprob,
  compressionRatio: compressionRatio(segment.text),
  noSpeechProb: segment.noSpeechProb,
  ...(segment.speaker === undefined ? {} : { speaker: segment.speaker }),
});

/**
 * Texts up to this many bytes compress to the same size in a small window, without the quarter of a MiB that zlib's
 * default takes and gives back for every segment.
 */
const SHORT_BYTES = 2000;
const SMALL_WINDOW = { windowBits: 12, memLevel: 5, chunkSize: 1024 };

/** UTF-8 bytes by compressed bytes: far above 2 when a recogniser repeats itself. */
export function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  if (bytes.length === 0) return 0;
  return bytes.length / deflateRawSync(bytes, bytes.length <= SHORT_BYTES ? SMALL_WINDOW : {}).length;
}
