import { languageName } from './language-name.js';
import {
  type Transcript,
  type TranscriptSegment,
  type TranscriptTask,
} from '@switchyard/engine-api/speech-recognizer.js';
import { durationUsage } from './usage.js';
import { deflateSync } from 'node:zlib';

/**
 * Texts up to this many bytes compress to the same size in a small window, without the
 * quarter of a MiB that zlib's default takes and gives back for every segment.
 */
const SHORT_BYTES = 2000;

const SMALL_WINDOW = { windowBits: 12, memLevel: 5, chunkSize: 1024 };

/**
 * UTF-8 bytes divided by zlib's bytes, as in OpenAI's Whisper: above 2.4 a text repeats
 * itself. About 20 µs per sentence.
 */
export function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  if (bytes.length === 0) return 0;
  return (
    bytes.length /
    deflateSync(bytes, bytes.length <= SHORT_BYTES ? SMALL_WINDOW : {}).length
  );
}

/** Field order is OpenAI's. */
export function formatDiarizedJson(
  { text, durationS, segments }: Transcript,
  { task }: Pick<VerboseOptions, 'task'>,
) {
  return {
    task,
    duration: durationS,
    text,
    segments: segments.map(diarizedSegment),
    usage: durationUsage(durationS),
  };
}

/**
 * A segment of `diarized_json`; the same object is the event `transcript.text.segment`
 * of its stream. Times are seconds from the start of the audio.
 */
export const diarizedSegment = (segment: TranscriptSegment) => ({
  type: 'transcript.text.segment',
  /** Counted from 1. */
  id: `seg_${String(segment.id + 1).padStart(3, '0')}`,
  start: segment.start,
  end: segment.end,
  text: segment.text.trim(),
  /** A known speaker's name, or "A", "B", ... in order of appearance. */
  speaker: segment.speaker ?? '',
});

export type TimestampGranularity = 'word' | 'segment';

export interface VerboseOptions {
  readonly task: TranscriptTask;
  /** OpenAI's default is `['segment']`. */
  readonly granularities: readonly TimestampGranularity[];
}

/**
 * Field order is OpenAI's. `segments` and `words` are there when their granularity
 * was asked for.
 */
export function formatVerboseJson(transcript: Transcript, options: VerboseOptions) {
  const wants = (granularity: TimestampGranularity) =>
    options.granularities.includes(granularity);
  return {
    task: options.task,
    language: languageName(transcript.language),
    duration: transcript.durationS,
    text: transcript.text,
    ...(wants('segment') && { segments: transcript.segments.map(verboseSegment) }),
    ...(wants('word') && {
      words: transcript.words.map(({ word, start, end }) => ({ word, start, end })),
    }),
    usage: durationUsage(transcript.durationS),
  };
}

const verboseSegment = (segment: TranscriptSegment) => ({
  id: segment.id,
  // Whisper's decoding window in 10 ms frames: 30 s windows, counted from
  // the segment's start.
  seek: Math.floor(segment.start / 30) * 3000,
  start: segment.start,
  end: segment.end,
  text: segment.text,
  tokens: segment.tokens,
  temperature: segment.temperature,
  avg_logprob: segment.avgLogprob,
  compression_ratio: segment.compressionRatio ?? compressionRatio(segment.text),
  no_speech_prob: segment.noSpeechProb,
});
