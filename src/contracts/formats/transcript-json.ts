import { compressionRatio } from './compression-ratio.js';
import { languageName } from './language-name.js';
import {
  type Transcript,
  type TranscriptSegment,
  type TranscriptTask,
} from '@switchyard/engine-api/transcript.js';
import { type DurationUsage, durationUsage } from './usage.js';

/**
 * A segment of `diarized_json`; the same object is the event `transcript.text.segment`
 * of its stream.
 */
export interface DiarizedSegment {
  readonly type: 'transcript.text.segment';
  /** `seg_001`, counted from 1. */
  readonly id: string;
  /** Seconds from the start of the audio. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** A known speaker's name, or "A", "B", ... in order of appearance. */
  readonly speaker: string;
}

/** Field order is OpenAI's. */
export interface DiarizedTranscription {
  readonly task: TranscriptTask;
  readonly duration: number;
  readonly text: string;
  readonly segments: readonly DiarizedSegment[];
  readonly usage: DurationUsage;
}

export function formatDiarizedJson(
  { text, durationS, segments }: Transcript,
  { task }: Pick<VerboseOptions, 'task'>,
): DiarizedTranscription {
  return {
    task,
    duration: durationS,
    text,
    segments: segments.map(diarizedSegment),
    usage: durationUsage(durationS),
  };
}

export function diarizedSegment({
  id,
  start,
  end,
  text,
  speaker,
}: TranscriptSegment): DiarizedSegment {
  const name = `seg_${String(id + 1).padStart(3, '0')}`;
  return {
    type: 'transcript.text.segment',
    id: name,
    start,
    end,
    text: text.trim(),
    speaker: speaker ?? '',
  };
}

export type TimestampGranularity = 'word' | 'segment';

export interface VerboseSegment {
  readonly id: number;
  readonly seek: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly tokens: readonly number[];
  readonly temperature: number;
  readonly avg_logprob: number;
  readonly compression_ratio: number;
  readonly no_speech_prob: number;
}

export interface VerboseWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Field order is OpenAI's. `segments` and `words` are there when their granularity
 * was asked for.
 */
export interface VerboseTranscription {
  readonly task: TranscriptTask;
  readonly language: string;
  readonly duration: number;
  readonly text: string;
  readonly segments?: readonly VerboseSegment[];
  readonly words?: readonly VerboseWord[];
  readonly usage: DurationUsage;
}

export interface VerboseOptions {
  readonly task: TranscriptTask;
  /** OpenAI's default is `['segment']`. */
  readonly granularities: readonly TimestampGranularity[];
}

export function formatVerboseJson(
  transcript: Transcript,
  options: VerboseOptions,
): VerboseTranscription {
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

function verboseSegment(segment: TranscriptSegment): VerboseSegment {
  return {
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
  };
}
