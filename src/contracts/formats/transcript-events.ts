import { SSE_DONE, sseData } from './server-sent-event.js';
import {
  type TokenLogprob,
  type Transcript,
  type TranscriptSegment,
} from '@switchyard/engine-api/speech-recognizer.js';
import { transcriptTokenUsage } from './usage.js';
import { diarizedSegment } from './transcript-json.js';

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
  const events = diarized
    ? diarizedEvents(pieces, segments)
    : textDeltas(pieces, logprobs);
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

interface SegmentDelta extends EventOptions {
  /** The segment's part of the whole text, the space before it included. */
  readonly delta: string;
  readonly logprobs?: readonly TokenLogprob[];
}

/** What is sent when a segment is final: its delta, then, with speakers, the segment. */
export function segmentEvents(
  segment: TranscriptSegment,
  { delta, diarized, logprobs }: SegmentDelta,
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
export function formatTranscriptStream(
  transcript: Transcript,
  options: EventOptions = {},
): string {
  return transcriptEvents(transcript, options).map(sseData).join('') + SSE_DONE;
}

function splitBySegments(
  text: string,
  segments: Transcript['segments'],
): readonly string[] {
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
