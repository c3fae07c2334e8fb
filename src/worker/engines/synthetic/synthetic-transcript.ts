import { createHash } from 'node:crypto';
import { type TokenLogprob, type Transcript, type TranscriptSegment, type TranscriptWord } from '../engine.js';

/** Enough to tell inputs apart, little enough to cost nothing at 25 MB. */
const HASHED_BYTES = 65_536;
const LOGPROB = -0.1;
const TURN_WORDS = 2;

interface TranscriptSource {
  readonly bytes: Uint8Array;
  readonly durationS: number;
  /** Everything else that a real model's answer would depend on. */
  readonly conditions: readonly string[];
  readonly wordTimestamps: boolean;
  readonly logprobs: boolean;
  /** Two words each in turn; empty: nobody tells them apart, and all is one segment. */
  readonly speakers: readonly string[];
}

/** Says what it is, and depends on all it was given: "synthetic transcript 1f3a9c02 5 bytes". Empty audio: no text. */
export function syntheticText(bytes: Uint8Array, conditions: readonly string[] = []): string {
  if (bytes.length === 0) return '';
  const hash = createHash('sha256').update(bytes.subarray(0, HASHED_BYTES)).update(JSON.stringify(conditions));
  return `synthetic transcript ${hash.digest('hex').slice(0, 8)} ${bytes.length} bytes`;
}

export function syntheticTranscript(source: TranscriptSource): Transcript {
  const { durationS, speakers } = source;
  const text = syntheticText(source.bytes, source.conditions);
  const words = evenlySpread(text, 0, durationS);
  const whole = { start: 0, end: durationS, text, avgLogprob: LOGPROB, noSpeechProb: 0 };
  return {
    text,
    language: 'en',
    segments: text === '' ? [] : speakers.length > 0 ? turnsOf(words, speakers) : [whole],
    words: source.wordTimestamps ? words : [],
    ...(source.logprobs && { logprobs: words.map(({ word }, i) => tokenOf(i === 0 ? word : ` ${word}`)) }),
  };
}

function turnsOf(words: readonly TranscriptWord[], speakers: readonly string[]): TranscriptSegment[] {
  return Array.from({ length: Math.ceil(words.length / TURN_WORDS) }, (_, turn) => {
    const said = words.slice(turn * TURN_WORDS, (turn + 1) * TURN_WORDS);
    return {
      start: said[0]!.start,
      end: said.at(-1)!.end,
      text: said.map(({ word }) => word).join(' '),
      avgLogprob: LOGPROB,
      noSpeechProb: 0,
      speaker: speakers[turn % speakers.length]!,
    };
  });
}

const tokenOf = (token: string): TokenLogprob => ({ token, logprob: LOGPROB, bytes: Buffer.from(token) });

/** The words of the text, each with an equal part of the time. Seconds. */
export function evenlySpread(text: string, start: number, end: number): TranscriptWord[] {
  const words = text === '' ? [] : text.split(' ');
  const each = (end - start) / Math.max(1, words.length);
  return words.map((word, i) => ({ word, start: start + i * each, end: start + (i + 1) * each, confidence: 0.9 }));
}
