import { type TranscriptSegment } from '../../contracts/formats/transcript.js';
import { type Transcript, type TranscriptSegment as EngineSegment } from '../engines/engine.js';

/** Segments as verbose_json has them: numbered, and with nothing left open. */
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
  noSpeechProb: segment.noSpeechProb,
  ...(segment.speaker === undefined ? {} : { speaker: segment.speaker }),
});
