import {
  type RecognizedTranscript,
  type RecognizedSegment,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type RecognizerResult } from './library.js';
import { type HeardUtterance } from './protocol.js';

/** Seconds that a last token lasts where the model does not say. */
const TOKEN_S = 0.2;
/** Scripts without spaces: every character is a word of its own. */
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

interface Piece {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly logprob: number | undefined;
}

/**
 * Words from a model's tokens. A token that begins with a space (or SentencePiece's mark
 * for it) begins a word. Times are shifted by `offsetS` and end at `endS`, seconds.
 */
export function wordsOf(result: RecognizerResult, offsetS: number, endS: number): TranscriptWord[] {
  const groups: Piece[][] = [];
  for (const piece of piecesOf(result, offsetS, endS)) {
    const text = piece.text.replace(/^[\s\u2581]+/u, '');
    if (text === '') continue;
    const group = groups.at(-1);
    if (group === undefined || text !== piece.text || UNSPACED.test(text))
      groups.push([{ ...piece, text }]);
    else group.push({ ...piece, text });
  }
  return groups.map((group, i) => toWord(group, groups[i + 1]?.[0]?.start ?? endS));
}

function piecesOf(
  { tokens, timestamps, durations, ys_log_probs }: RecognizerResult,
  offsetS: number,
  endS: number,
): Piece[] {
  if (timestamps.length !== tokens.length) return [];
  return tokens.map((text, i) => {
    const start = Math.min(offsetS + (timestamps[i] ?? 0), endS);
    const end = Math.min(start + (durations?.[i] ?? TOKEN_S), endS);
    return { text, start, end, logprob: ys_log_probs?.[i] };
  });
}

function toWord(group: readonly Piece[], nextStart: number): TranscriptWord {
  const start = group[0]?.start ?? 0;
  const end = Math.max(start, Math.min(group.at(-1)?.end ?? start, nextStart));
  const word = group.map(({ text }) => text).join('');
  return {
    word,
    start: inMilliseconds(start),
    end: inMilliseconds(end),
    confidence: confidenceOf(group),
  };
}

/** Posterior of the word: the product of its tokens'. 0: the model tells none. */
function confidenceOf(group: readonly Piece[]): number {
  let sum = 0;
  for (const { logprob } of group) {
    if (logprob === undefined) return 0;
    sum += logprob;
  }
  return Math.round(Math.exp(Math.min(0, sum)) * 1000) / 1000;
}

function inMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** One stretch of speech as a segment. */
export interface HeardSegment {
  readonly segment: RecognizedSegment;
  readonly words: readonly TranscriptWord[];
  readonly language: string;
}

export function segmentOf(
  { start, end, result }: HeardUtterance,
  audioEndS: number,
): HeardSegment | undefined {
  const text = result.text.trim();
  if (text === '') return undefined;
  const words = wordsOf(result, start, Math.min(end, audioEndS));
  const logprobs = result.ys_log_probs ?? [];
  const segment: RecognizedSegment = {
    text,
    start: words[0]?.start ?? start,
    end: words.at(-1)?.end ?? end,
    avgLogprob:
      logprobs.length === 0 ? 0 : logprobs.reduce((sum, value) => sum + value, 0) / logprobs.length,
    noSpeechProb: 0,
  };
  // Whisper says "en", SenseVoice "<|en|>".
  return { segment, words, language: (result.lang ?? '').replace(/^<\||\|>$/g, '') };
}

export function transcriptOf(
  heard: readonly HeardSegment[],
  language: string,
  wordTimestamps: boolean,
): RecognizedTranscript {
  return {
    text: heard.map(({ segment }) => segment.text).join(' '),
    language: heard.find(segment => segment.language !== '')?.language ?? language,
    segments: heard.map(({ segment }) => segment),
    words: wordTimestamps ? heard.flatMap(({ words }) => words) : [],
  };
}
