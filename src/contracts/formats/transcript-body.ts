import { deflateSync } from 'node:zlib';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import type {
  Transcript,
  TranscriptSegment,
  TranscriptionParams,
} from '@switchyard/engine-api/speech-recognizer.js';
import { languageName } from './language-name.js';
import { SSE_CONTENT_TYPE } from './server-sent-event.js';
import { formatSrt, formatVtt } from './subtitles.js';
import { diarizedSegment, formatTranscriptStream, logprobBody } from './transcript-events.js';

/**
 * What a transcription is billed by at OpenAI: whole seconds, rounded up.
 * @param durationS exact, seconds
 */
const durationUsage = (durationS: number) => ({
  type: 'duration',
  seconds: Math.ceil(durationS),
});

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
  return bytes.length / deflateSync(bytes, bytes.length <= SHORT_BYTES ? SMALL_WINDOW : {}).length;
}

/** Field order is OpenAI's. */
function formatDiarizedJson(
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

interface VerboseOptions {
  readonly task: TranscriptionParams['task'];
  /** OpenAI's default is `['segment']`. */
  readonly granularities: readonly ('word' | 'segment')[];
}

/**
 * Field order is OpenAI's. `segments` and `words` are there when their granularity
 * was asked for.
 */
export function formatVerboseJson(transcript: Transcript, options: VerboseOptions) {
  const wants = (granularity: 'word' | 'segment') => options.granularities.includes(granularity);
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

export const TRANSCRIPT_FORMATS = [
  'json',
  'text',
  'srt',
  'verbose_json',
  'vtt',
  'diarized_json',
] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

export interface TranscriptBodyOptions extends VerboseOptions {
  readonly format: TranscriptFormat;
  readonly stream: boolean;
}

const PLAIN = 'text/plain; charset=utf-8';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The HTTP answer of a transcription or translation in the format asked for. */
export function transcriptBody(
  transcript: Transcript,
  options: TranscriptBodyOptions,
): { readonly contentType: string; readonly body: string } {
  if (options.stream) {
    const body = formatTranscriptStream(transcript, {
      diarized: options.format === 'diarized_json',
    });
    return { contentType: SSE_CONTENT_TYPE, body };
  }
  const body = BODIES[options.format](transcript, options);
  return typeof body === 'string'
    ? { contentType: PLAIN, body }
    : { contentType: JSON_TYPE, body: writeJson(body) };
}

const formatJson = ({ text, logprobs, durationS }: Transcript): object => ({
  text,
  ...(logprobs && { logprobs: logprobs.map(logprobBody) }),
  usage: durationUsage(durationS),
});

const BODIES: Readonly<
  Record<TranscriptFormat, (heard: Transcript, options: VerboseOptions) => object | string>
> = {
  json: formatJson,
  text: ({ text }) => `${text}\n`,
  srt: formatSrt,
  verbose_json: formatVerboseJson,
  vtt: formatVtt,
  diarized_json: formatDiarizedJson,
};
