import type {
  Transcript,
  TranscriptSegment,
  TokenLogprob,
} from '@switchyard/engine-api/speech-recognizer.js';
import { SSE_DONE, sseData } from './server-sent-event.js';

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
export const logprobBody = ({ token, logprob, bytes }: TokenLogprob) => ({
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
