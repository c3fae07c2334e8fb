import { deflateSync } from 'node:zlib';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import type {
  Transcript,
  TranscriptSegment,
  TranscriptionParams,
  TokenLogprob,
} from '@switchyard/engine-api/speech-recognizer.js';
import { languageName } from './language-name.js';
import { SSE_CONTENT_TYPE, SSE_DONE, sseData } from './server-sent-event.js';

/**
 * What a transcription is billed by at OpenAI: whole seconds, rounded up.
 * @param durationS exact, seconds
 */
const durationUsage = (durationS: number) => ({
  type: 'duration',
  seconds: Math.ceil(durationS),
});

/** OpenAI counts audio with ten tokens a second. */
const AUDIO_TOKENS_PER_S = 10;

/** English text, in tokens of OpenAI's. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * The usage in `transcript.text.done`: SDKs know no other type there. Estimates: engines
 * count no tokens that mean something elsewhere.
 */
function transcriptTokenUsage({ durationS, text }: Transcript) {
  const audio = Math.ceil(durationS * AUDIO_TOKENS_PER_S);
  const output = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  return {
    type: 'tokens',
    input_tokens: audio,
    output_tokens: output,
    total_tokens: audio + output,
    input_token_details: { audio_tokens: audio, text_tokens: 0 },
  };
}

/**
 * OpenAI's shape of a token: `bytes` as numbers, since a token may be part of
 * a character only.
 */
const logprobBody = ({ token, logprob, bytes }: TokenLogprob) => ({
  token,
  logprob,
  bytes: [...bytes],
});

/**
 * Which tokens each of the pieces of a text is made of, by bytes; a token across a border
 * belongs to the earlier piece. Undefined when the tokens do not spell the text, as after
 * inverse text normalisation.
 */
function tokensOfPieces(
  pieces: readonly string[],
  tokens: readonly TokenLogprob[],
): readonly (readonly TokenLogprob[])[] | undefined {
  const spelt = Buffer.concat(tokens.map(({ bytes }) => bytes)).toString();
  const text = pieces.join('');
  if (spelt.trim() !== text.trim()) return undefined;
  let pieceEnd = Buffer.byteLength(spelt) - Buffer.byteLength(spelt.trimStart());
  let tokenStart = 0;
  let next = 0;
  return pieces.map((piece, index) => {
    pieceEnd += Buffer.byteLength(piece);
    const first = next;
    const last = index === pieces.length - 1;
    while (next < tokens.length && (last || tokenStart < pieceEnd))
      tokenStart += tokens[next++]!.bytes.length;
    return tokens.slice(first, next);
  });
}

type TranscriptEvent =
  | (ReturnType<typeof textDelta> & { readonly segment_id?: string })
  | ReturnType<typeof diarizedSegment>
  | ReturnType<typeof textDone>;

interface EventOptions {
  /**
   * The stream of `diarized_json`: each delta is followed by its segment
   * with the speaker.
   */
  readonly diarized?: boolean;
  /** Device milliseconds of the request, for the usage. */
  readonly deviceMs?: number | undefined;
}

/**
 * The answer as OpenAI streams it: deltas whose concatenation is exactly `text`,
 * then one done.
 *
 * One delta per segment; a transcript whose text is not the sum of its segments
 * is one delta.
 */
export function transcriptEvents(
  transcript: Transcript,
  options: EventOptions = {},
): TranscriptEvent[] {
  const { text, segments, logprobs } = transcript;
  const { diarized = false, deviceMs } = options;
  const pieces = splitBySegments(text, segments);
  const events = diarized ? diarizedEvents(pieces, segments) : textDeltas(pieces, logprobs);
  return [...events, textDone(transcript, deviceMs)];
}

function diarizedEvents(
  pieces: readonly string[],
  segments: Transcript['segments'],
): TranscriptEvent[] {
  if (pieces.length !== segments.length)
    return [...textDeltas(pieces, undefined), ...segments.map(diarizedSegment)];
  return segments.flatMap((segment, i) =>
    segmentEvents(segment, { delta: pieces[i] ?? '', diarized: true }),
  );
}

function textDeltas(pieces: readonly string[], logprobs: Transcript['logprobs']) {
  const tokens = logprobs && tokensOfPieces(pieces, logprobs);
  // Tokens that spell another text belong to it as a whole only.
  if (logprobs && !tokens) return [textDelta(pieces.join(''), logprobs)];
  return pieces.map((piece, i) => textDelta(piece, tokens?.[i]));
}

/** What is sent when a segment is final: its delta, then, with speakers, the segment. */
export function segmentEvents(
  segment: TranscriptSegment,
  {
    delta,
    diarized,
    logprobs,
  }: EventOptions & {
    /** The segment's part of the whole text, the space before it included. */
    readonly delta: string;
    readonly logprobs?: readonly TokenLogprob[];
  },
): TranscriptEvent[] {
  if (diarized !== true) return [textDelta(delta, logprobs)];
  const finished = diarizedSegment(segment);
  return [{ ...textDelta(delta, logprobs), segment_id: finished.id }, finished];
}

const textDelta = (delta: string, logprobs: readonly TokenLogprob[] | undefined) => ({
  type: 'transcript.text.delta',
  delta,
  ...(logprobs && { logprobs: logprobs.map(logprobBody) }),
});

/** The last event: the whole text. */
export const textDone = (transcript: Transcript, deviceMs?: number) => ({
  type: 'transcript.text.done',
  text: transcript.text,
  ...(transcript.logprobs && { logprobs: transcript.logprobs.map(logprobBody) }),
  usage: {
    ...transcriptTokenUsage(transcript),
    ...(deviceMs !== undefined && { device_ms: Math.round(deviceMs * 100) / 100 }),
  },
});

/** The whole SSE body, `[DONE]` included. */
export function formatTranscriptStream(transcript: Transcript, options: EventOptions = {}): string {
  return transcriptEvents(transcript, options).map(sseData).join('') + SSE_DONE;
}

function splitBySegments(text: string, segments: Transcript['segments']): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const segment of segments.slice(0, -1)) {
    const wanted = segment.text.trim();
    const at = text.indexOf(wanted, from);
    if (at < 0) return [text].filter(piece => piece !== '');
    pieces.push(text.slice(from, at + wanted.length));
    from = at + wanted.length;
  }
  return [...pieces, text.slice(from)].filter(piece => piece !== '');
}

/**
 * `01:02:03.456`, hours always written, as OpenAI's subtitles do.
 * @param separator between seconds and milliseconds: `,` in SRT, `.` in WebVTT.
 */
export function timestamp(seconds: number, separator: ',' | '.'): string {
  // Rounded once as a whole number: 1.9996 s must become 00:00:02.000, not 00:00:01.1000.
  const totalMs = Math.max(0, Math.round(seconds * 1000));
  const hours = String(Math.floor(totalMs / 3_600_000)).padStart(2, '0');
  const behindHours = new Date(totalMs).toISOString().slice(13, 23);
  return hours + behindHours.replace('.', separator);
}

/** A cue's text must not contain the arrow that separates its times. */
function cueText(text: string) {
  return text.trim().replaceAll('-->', '->');
}

/** SubRip: numbered from 1, each cue followed by an empty line. Empty for silence. */
export function formatSrt(transcript: Pick<Transcript, 'segments'>): string {
  return transcript.segments
    .map(({ start, end, text }, index) => {
      const times = `${timestamp(start, ',')} --> ${timestamp(end, ',')}`;
      return `${index + 1}\n${times}\n${cueText(text)}\n\n`;
    })
    .join('');
}

/**
 * WebVTT: the header line, then each cue followed by an empty line. Only the
 * header for silence.
 */
export function formatVtt(transcript: Pick<Transcript, 'segments'>): string {
  const cues = transcript.segments.map(
    ({ start, end, text }) =>
      `${timestamp(start, '.')} --> ${timestamp(end, '.')}\n${cueText(text)}\n\n`,
  );
  return `WEBVTT\n\n${cues.join('')}`;
}

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

/**
 * A segment of `diarized_json`; the same object is the event `transcript.text.segment`
 * of its stream. Times are seconds from the start of the audio.
 */
const diarizedSegment = (segment: TranscriptSegment) => ({
  type: 'transcript.text.segment',
  /** Counted from 1. */
  id: `seg_${String(segment.id + 1).padStart(3, '0')}`,
  start: segment.start,
  end: segment.end,
  text: segment.text.trim(),
  /** A known speaker's name, or "A", "B", ... in order of appearance. */
  speaker: segment.speaker ?? '',
});

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
